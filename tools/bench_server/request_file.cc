#include "tools/bench_server/request_file.h"

#include <charconv>

namespace search::tools {

neptune::StatusOr<std::vector<std::string>> ParseRequests(std::string_view bytes) {
  std::vector<std::string> requests;
  while (!bytes.empty()) {
    const size_t line_end = bytes.find('\n');
    size_t size = 0;
    const char* const digits_end =
        bytes.data() + (line_end == std::string_view::npos ? bytes.size() : line_end);
    const auto parsed = std::from_chars(bytes.data(), digits_end, size);
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == digits_end;
    if (line_end == std::string_view::npos || !is_number || size == 0 || size > kRequestSizeMax) {
      return neptune::InvalidArgument("request ", requests.size() + 1, ": expected its size");
    }
    bytes.remove_prefix(line_end + 1);
    if (size > bytes.size()) {
      return neptune::InvalidArgument("request ", requests.size() + 1, ": ends after ",
                                      bytes.size(), " of ", size, " bytes");
    }
    if (requests.size() == kRequestCountMax) {
      return neptune::InvalidArgument("more than ", kRequestCountMax, " requests");
    }
    requests.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  if (requests.empty()) return neptune::InvalidArgument("there are no requests");
  return requests;
}

}  // namespace search::tools
