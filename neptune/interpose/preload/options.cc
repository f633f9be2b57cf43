#include "neptune/interpose/preload/options.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace neptune::interpose {
namespace {

StatusOr<int> ParseCount(std::string_view name, std::string_view text, int most) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1 || count > most) {
    return InvalidArgument(name, ": '", text, "' is not a number from 1 to ", most);
  }
  return count;
}

}  // namespace

StatusOr<PreloadOptions> ReadPreloadOptions(const std::function<const char*(const char*)>& variable,
                                            int processor_count) {
  PreloadOptions options;
  const char* const file = variable("NEPTUNE_CAPSULES");
  if (file == nullptr || *file == '\0') {
    return InvalidArgument("NEPTUNE_CAPSULES: no capsule file is set");
  }
  options.capsule_file = file;
  options.kernel_thread_count = std::clamp(processor_count, 1, kPreloadKernelThreadCountMax);
  if (const char* const text = variable("NEPTUNE_KERNEL_THREADS"); text != nullptr) {
    NEPTUNE_ASSIGN_OR_RETURN(options.kernel_thread_count, ParseCount("NEPTUNE_KERNEL_THREADS", text,
                                                                     kPreloadKernelThreadCountMax));
  }
  if (const char* const status = variable("NEPTUNE_CAPSULE_STATUS"); status != nullptr) {
    options.status_file = status;
  }
  return options;
}

}  // namespace neptune::interpose
