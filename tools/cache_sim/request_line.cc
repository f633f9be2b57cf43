#include "tools/cache_sim/request_line.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "tools/trace/query_import.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;

// Takes the first word from the line; empty at its end.
std::string_view TakeWord(std::string_view* line) {
  const size_t begin = line->find_first_not_of(" \t\r");
  if (begin == line->npos) {
    *line = {};
    return {};
  }
  const size_t end = std::min(line->find_first_of(" \t\r", begin), line->size());
  const std::string_view word = line->substr(begin, end - begin);
  line->remove_prefix(end);
  return word;
}

}  // namespace

std::optional<uint64_t> ParseWhole(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

neptune::StatusOr<SizedRequest> ParseSizedLine(std::string_view line) {
  const auto time_s = ParseWhole(TakeWord(&line));
  const std::string_view id = TakeWord(&line);
  const auto size = ParseWhole(TakeWord(&line));
  const std::string_view cost_word = TakeWord(&line);
  const auto cost = cost_word.empty() ? std::optional<uint64_t>(0) : ParseWhole(cost_word);
  if (!time_s || id.empty() || !size || !cost || !TakeWord(&line).empty()) {
    return InvalidArgument("expected TIME ID SIZE [COST]");
  }
  if (*time_s > RequestLimits::kTimeMaxS || *size == 0 || *size > RequestLimits::kSizeMax ||
      *cost > RequestLimits::kCostMaxUs) {
    return InvalidArgument("a number is out of range");
  }
  return SizedRequest{.time_s = *time_s, .id = id, .weight = {.size = *size, .cost_us = *cost}};
}

neptune::StatusOr<ServedPage> ParseCommonLogLine(std::string_view line) {
  NEPTUNE_ASSIGN_OR_RETURN(const AccessLogEntry entry, ParseAccessLogLine(line, "q"));
  if (entry.time_s < 0) return InvalidArgument("the time is before 1970");
  // Requests with quotes in them were logged as they came, so the last quote ends the request.
  const size_t begin = line.find('"', line.find(']'));
  const size_t end = line.rfind('"');
  std::string_view request = line.substr(begin + 1, end - begin - 1);
  std::string_view rest = line.substr(end + 1);
  ServedPage page{.time_s = static_cast<uint64_t>(entry.time_s)};
  page.is_get = TakeWord(&request) == "GET";
  page.path = TakeWord(&request);
  const auto status = ParseWhole(TakeWord(&rest));
  const std::string_view size_word = TakeWord(&rest);
  const auto size = size_word == "-" ? std::optional<uint64_t>(0) : ParseWhole(size_word);
  if (!status || *status > 999 || !size || *size > RequestLimits::kSizeMax) {
    return InvalidArgument("no status and size after the request");
  }
  page.status = static_cast<uint32_t>(*status);
  page.size = *size;
  return page;
}

}  // namespace search::tools
