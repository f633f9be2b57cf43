#include "tools/cache_sim/trace_input.h"

#include <memory>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/cache_sim/request_line.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr uint64_t kMicrosPerSecond = 1'000'000;

Status Full(const std::string& path) {
  return neptune::ResourceExhausted(path, " has more than ", CacheTrace::kRequestCountMax,
                                    " requests");
}

StatusOr<ReadCounts> ReadQueries(const std::string& path, BadLines bad_lines,
                                 const AnswerTable& answers, CacheTrace* trace) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(path, bad_lines));
  TraceRecord record;
  for (;;) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    if (!trace->Add(record.time_us, record.query, answers.AnswerTo(record.query))) {
      return Full(path);
    }
  }
  return ReadCounts{.skipped_count = 0,
                    .bad_line_count = reader->bad_line_count(),
                    .first_bad_line = reader->first_bad_line()};
}

// Adds the request of one line, or skips it.
class LineTaker {
 public:
  LineTaker(const std::string& path, RequestFormat format, CacheTrace* trace)
      : path_(path), format_(format), trace_(trace) {}

  Status Take(std::string_view line, ReadCounts* counts) {
    return format_ == RequestFormat::kSized ? TakeSized(line) : TakePage(line, counts);
  }

 private:
  Status TakeSized(std::string_view line) {
    NEPTUNE_ASSIGN_OR_RETURN(const SizedRequest request, ParseSizedLine(line));
    return Add(request.time_s, request.id, request.weight);
  }

  // An answer 304 has no body: the page's size is that of an answer 200 to it.
  Status TakePage(std::string_view line, ReadCounts* counts) {
    NEPTUNE_ASSIGN_OR_RETURN(const ServedPage page, ParseCommonLogLine(line));
    const bool is_whole = page.status == 200 && page.size > 0;
    const bool is_known = page.status == 304 && trace_->KnownWeight(page.path).size > 0;
    if (!page.is_get || page.path.empty() || (!is_whole && !is_known)) {
      ++counts->skipped_count;
      return neptune::OkStatus();
    }
    return Add(page.time_s, page.path, {.size = page.size});
  }

  Status Add(uint64_t time_s, std::string_view key, cache::EntryWeight weight) {
    if (!trace_->Add(time_s * kMicrosPerSecond, key, weight)) return Full(path_);
    return neptune::OkStatus();
  }

  const std::string& path_;
  const RequestFormat format_;
  CacheTrace* const trace_;
};

StatusOr<ReadCounts> ReadLines(const std::string& path, RequestFormat format, BadLines bad_lines,
                               CacheTrace* trace) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  LineReader lines(source.get(), RequestLimits::kLineSizeMax);
  LineTaker taker(path, format, trace);
  LineReader::Line line;
  ReadCounts counts;
  for (;;) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
    if (!more) return counts;
    if (!line.too_long && (line.text.empty() || line.text.starts_with('#'))) continue;
    const Status taken =
        line.too_long ? InvalidArgument("the line is too long") : taker.Take(line.text, &counts);
    if (taken.ok()) continue;
    if (taken.code() != neptune::StatusCode::kInvalidArgument) return taken;
    const Status located = neptune::Annotate(taken, neptune::StrCat(path, ":", line.number));
    if (bad_lines == BadLines::kFail) return located;
    if (counts.bad_line_count++ == 0) counts.first_bad_line = neptune::ToStd(located.message());
  }
}

}  // namespace

StatusOr<RequestFormat> DetectFormat(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  LineReader lines(source.get(), RequestLimits::kLineSizeMax);
  LineReader::Line line;
  NEPTUNE_ASSIGN_OR_RETURN(const bool has_line, lines.Next(&line));
  if (!has_line) return InvalidArgument(path, " is empty");
  if (line.text == kTraceHeader || line.text.starts_with('{')) return RequestFormat::kQueries;
  return line.text.find('[') != line.text.npos && line.text.find('"') != line.text.npos
             ? RequestFormat::kCommonLog
             : RequestFormat::kSized;
}

StatusOr<ReadCounts> ReadRequests(const std::string& path, RequestFormat format, BadLines bad_lines,
                                  const AnswerTable& answers, CacheTrace* trace) {
  const uint64_t count_before = trace->request_count();
  NEPTUNE_ASSIGN_OR_RETURN(ReadCounts counts, format == RequestFormat::kQueries
                                                  ? ReadQueries(path, bad_lines, answers, trace)
                                                  : ReadLines(path, format, bad_lines, trace));
  if (trace->request_count() == count_before) return InvalidArgument(path, " has no requests");
  return counts;
}

}  // namespace search::tools
