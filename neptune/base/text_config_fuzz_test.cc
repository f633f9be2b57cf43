// For any input there is no crash, and an error names a line of the text or the line after it.

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/text_config.h"
#include "neptune/base/text_config_test.pb.h"

namespace {

constexpr std::string_view kPrefix = "file:";

void CheckError(std::string_view text, std::string_view message) {
  CHECK(message.starts_with(kPrefix)) << message;
  const size_t line = std::stoul(std::string(message.substr(kPrefix.size(), 10)));
  const size_t line_count = 1 + std::count(text.begin(), text.end(), '\n');
  CHECK(line >= 1 && line <= line_count) << message;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  neptune::text_config_test::Cluster cluster;
  const neptune::Status status = neptune::ParseTextConfig(text, "file", &cluster);
  if (!status.ok()) {
    CHECK_EQ(cluster.ByteSizeLong(), 0u);
    CheckError(text, neptune::ToStd(status.message()));
    return 0;
  }
  // A message that was parsed must survive a round trip through text.
  neptune::text_config_test::Cluster again;
  CHECK(neptune::ParseTextConfig(cluster.DebugString(), "file", &again).ok());
  CHECK_EQ(again.SerializeAsString(), cluster.SerializeAsString());
  return 0;
}
