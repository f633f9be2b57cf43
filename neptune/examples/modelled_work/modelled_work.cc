#include "neptune/examples/modelled_work/modelled_work.h"

#include <cmath>

#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"
#include "neptune/examples/parameters/number_parameter.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/random_source.h"

namespace neptune::examples {
namespace {

constexpr uint64_t kMeanMaxUs = kModelledMeanMax / std::chrono::microseconds(1);
// An odd factor separates consecutive seeds.
constexpr uint64_t kSeedFactor = 0x9e3779b97f4a7c15;

}  // namespace

StatusOr<ModelledWork> ModelledWork::FromParameter(const ModuleContext& context,
                                                   const std::string& key) {
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t mean_us,
                           NumberParameter(context, key, {.most = kMeanMaxUs}));
  return ModelledWork(context.world.processors(), std::chrono::microseconds(mean_us),
                      Checksum64(StrCat(context.service, ".", key)));
}

Duration ModelledWork::TimeOf(uint64_t seed) const {
  if (mean_ == Duration(0)) return Duration(0);
  RandomSource random(seed * kSeedFactor + salt_);
  return Duration(std::llround(random.Exponential(static_cast<double>(mean_.count()))));
}

void ModelledWork::Use(uint64_t seed) const {
  if (mean_ > Duration(0)) this_thread::Consume(*processors_, TimeOf(seed));
}

}  // namespace neptune::examples
