#include "tools/trace/trace_record.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "index/html/utf8.h"
#include "neptune/base/strings.h"
#include "neptune/base/utf8.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;

bool IsClassCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

Status ParseTime(std::string_view text, uint64_t* time_us) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), *time_us);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return InvalidArgument("the time is not a whole number of microseconds");
  }
  if (*time_us > TraceLimits::kTimeMaxUs) return InvalidArgument("the time is over ten years");
  return neptune::OkStatus();
}

}  // namespace

Status CheckTraceClass(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= TraceLimits::kClassSizeMax &&
                    std::all_of(name.begin(), name.end(), IsClassCharacter);
  if (fits) return neptune::OkStatus();
  return InvalidArgument("the class is not 1 to ", TraceLimits::kClassSizeMax,
                         " letters, digits, '-' and '_'");
}

Status CheckTraceQuery(std::string_view query) {
  if (query.empty()) return InvalidArgument("the query is empty");
  if (query.size() > TraceLimits::kQuerySizeMax) {
    return InvalidArgument("the query has ", query.size(), " bytes, more than ",
                           TraceLimits::kQuerySizeMax);
  }
  if (std::any_of(query.begin(), query.end(), IsControl)) {
    return InvalidArgument("the query holds a tab or another control character");
  }
  if (!html::IsValidUtf8(query)) return InvalidArgument("the query is not UTF-8");
  return neptune::OkStatus();
}

Status ParseTraceLine(std::string_view line, TraceRecord* record) {
  const size_t first = line.find('\t');
  const size_t second = first == line.npos ? line.npos : line.find('\t', first + 1);
  if (second == line.npos) {
    return InvalidArgument("not three fields (time, class, query) separated by tabs");
  }
  uint64_t time_us = 0;
  NEPTUNE_RETURN_IF_ERROR(ParseTime(line.substr(0, first), &time_us));
  const std::string_view service_class = line.substr(first + 1, second - first - 1);
  NEPTUNE_RETURN_IF_ERROR(CheckTraceClass(service_class));
  const std::string_view query = line.substr(second + 1);
  NEPTUNE_RETURN_IF_ERROR(CheckTraceQuery(query));
  record->time_us = time_us;
  record->service_class = service_class;
  record->query = query;
  return neptune::OkStatus();
}

Status ParseAccessLine(std::string_view line, TraceRecord* record) {
  const auto document = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return InvalidArgument("the line is not a JSON object");
  const auto time = document.find("time_us");
  const auto query = document.find("query");
  if (time == document.end() || !time->is_number_unsigned()) {
    return InvalidArgument("the line has no integer time_us");
  }
  if (query == document.end() || !query->is_string()) {
    return InvalidArgument("the line has no query text");
  }
  record->time_us = time->get<uint64_t>();
  record->query = CleanQuery(query->get_ref<const std::string&>());
  const auto name = document.find("class");
  record->service_class = kDefaultClass;
  if (name != document.end()) {
    if (!name->is_string()) return InvalidArgument("class is not a string");
    record->service_class = name->get_ref<const std::string&>();
  }
  NEPTUNE_RETURN_IF_ERROR(CheckTraceClass(record->service_class));
  return CheckTraceQuery(record->query);
}

void AppendTraceLine(const TraceRecord& record, std::string* out) {
  neptune::StrAppend(out, record.time_us, "\t", record.service_class, "\t", record.query, "\n");
}

std::string CleanQuery(std::string_view text) {
  const std::string clean = html::CollapseSpace(html::ReplaceInvalidUtf8(text));
  std::string_view cut = neptune::TruncateUtf8(clean, TraceLimits::kQuerySizeMax);
  while (cut.ends_with(' ')) cut.remove_suffix(1);
  return std::string(cut);
}

}  // namespace search::tools
