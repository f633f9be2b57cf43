#include "neptune/examples/modelled_work/modelled_work.h"

#include <cmath>

#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/random_source.h"

namespace neptune::examples {
namespace {

constexpr uint64_t kMeanMaxUs = kModelledMeanMax / std::chrono::microseconds(1);
// An odd factor separates consecutive seeds.
constexpr uint64_t kSeedFactor = 0x9e3779b97f4a7c15;

}  // namespace

void ModelledWork::DeclareParameter(ParameterTable& table, const std::string& key) {
  key_ = key;
  table.Whole(key, {0, kMeanMaxUs}, &mean_us_,
              "mean of additional processor time, in microseconds");
}

void ModelledWork::Start(const ModuleContext& context) {
  processors_ = &context.world.processors();
  salt_ = Checksum64(StrCat(context.service, ".", key_));
}

Duration ModelledWork::TimeOf(uint64_t seed) const {
  if (mean_us_ == 0) return Duration(0);
  const Duration mean = std::chrono::microseconds(mean_us_);
  RandomSource random(seed * kSeedFactor + salt_);
  return Duration(std::llround(random.Exponential(static_cast<double>(mean.count()))));
}

void ModelledWork::Use(uint64_t seed) const {
  if (mean_us_ > 0) this_thread::Consume(*processors_, TimeOf(seed));
}

}  // namespace neptune::examples
