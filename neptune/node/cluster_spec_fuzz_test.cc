// Whatever a spec's file holds: no crash, an error names the file, and what is accepted is
// complete.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "neptune/node/cluster_spec.h"

namespace neptune {
namespace {

void CheckComplete(const ClusterSpec& spec) {
  CHECK(!spec.name().empty());
  CHECK(!spec.nodes().empty());
  for (const NodeSpec& node : spec.nodes()) {
    CHECK_GE(node.serving_threads(), 1u);
    CHECK_GE(WorkingThreadsOf(node), 1u);
    for (const HostedServiceSpec& hosted : node.hosts()) {
      const ServiceSpec* const service = FindService(spec, hosted.service());
      CHECK(service != nullptr);
      CHECK(!hosted.partitions().empty());
      for (const uint32_t partition : hosted.partitions()) {
        CHECK_LT(partition, service->partition_count());
      }
    }
  }
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = neptune::ParseClusterSpec(text, "file");
  if (spec.ok()) {
    neptune::CheckComplete(*spec);
  } else {
    CHECK(neptune::ToStd(spec.status().message()).starts_with("file:")) << spec.status();
  }
  return 0;
}
