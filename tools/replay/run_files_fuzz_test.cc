// Any bytes as what a run reads of people and of its own files: refused, or a run that can be
// summarised.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/replay/goal.h"
#include "tools/replay/measurement_log.h"
#include "tools/replay/replay_run.h"
#include "tools/replay/summary.h"

namespace search::tools {
namespace {

void TryMeasurements(std::string_view bytes) {
  const auto run = ParseMeasurementLog(bytes, "fuzz");
  if (!run.ok()) return;
  for (const Measurement& m : run->measurements)
    CHECK_LT(m.service_class, run->setup.classes.size());
  (void)SetupJson(run->setup);
}

void TryTexts(std::string_view text) {
  const auto setup = ParseSetupJson(text);
  if (setup.ok()) CHECK(ParseSetupJson(SetupJson(*setup)).ok());
  const auto goal = Goal::Parse(text);
  if (goal.ok()) CHECK(!Describe(goal->Check(RunSummary())).empty());
  (void)ParseYields(text);
  (void)ParseTarget(text);
}

}  // namespace
}  // namespace search::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  search::tools::TryMeasurements(bytes);
  search::tools::TryTexts(bytes);
  return 0;
}
