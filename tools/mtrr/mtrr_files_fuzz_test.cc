// Any bytes as an answer of a node, a profile, a plan, a request for one, and a spec: read or
// refused.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/mtrr/plan_file.h"
#include "tools/mtrr/service_profile.h"
#include "tools/mtrr/service_state.h"
#include "tools/mtrr/spec_edit.h"
#include "tools/mtrr/thread_request.h"

using namespace search::tools;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)ParseServices(text);
  (void)ParseProfile(text, "profile");
  (void)ParseThreadRequest(text, "request", [](const std::string&) {
    return ParseProfile(
        R"({"points":[{"threads":1,"throughput":50},{"threads":2,"throughput":60}]})", "profile");
  });
  const auto plan = ParseAllocation(text, "plan");
  // What was read can be written and read again.
  if (plan.ok()) CHECK(ParseAllocation(AllocationJson(*plan), "again").ok());
  const ThreadSettings settings{.concurrency = 3, .classes = {{"gold", 2}}};
  const auto once = EditSpec(text, "index", settings);
  if (once.ok()) CHECK(EditSpec(*once, "index", settings).ok()) << *once;
  return 0;
}
