// For any text: no crash, an error names a line of it, and formatting then parsing round-trips.

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_text.h"

namespace {

constexpr std::string_view kPrefix = "file:";

void CheckError(std::string_view text, std::string_view message) {
  CHECK(message.starts_with(kPrefix)) << message;
  const size_t line = std::stoul(std::string(message.substr(kPrefix.size(), 10)));
  const size_t line_count = 1 + std::count(text.begin(), text.end(), '\n');
  CHECK(line >= 1 && line <= line_count) << message;
}

std::string Format(const std::vector<neptune::CapsuleConfig>& configs) {
  std::string text;
  for (const neptune::CapsuleConfig& config : configs) text += neptune::FormatCapsule(config);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> warnings;
  const auto configs = neptune::ParseCapsules(text, {"file"}, &warnings);
  if (!configs.ok()) {
    CheckError(text, neptune::ToStd(configs.status().message()));
    return 0;
  }
  for (const std::string& warning : warnings) CheckError(text, warning);
  const std::string written = Format(*configs);
  const auto again = neptune::ParseCapsules(written, {"file"}, nullptr);
  CHECK(again.ok()) << again.status() << "\n" << written;
  CHECK_EQ(Format(*again), written);
  return 0;
}
