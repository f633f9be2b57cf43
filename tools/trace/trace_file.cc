#include "tools/trace/trace_file.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr size_t kWriteBlockSize = 64 * 1024;

}  // namespace

StatusOr<BadLines> ParseBadLines(std::string_view word) {
  if (word == "fail") return BadLines::kFail;
  if (word == "count") return BadLines::kCount;
  return InvalidArgument("--bad_lines=", word, " is not fail or count");
}

StatusOr<std::unique_ptr<TraceReader>> TraceReader::Open(const std::string& path,
                                                         BadLines bad_lines) {
  NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  auto reader = std::make_unique<TraceReader>(source.get(), path, bad_lines);
  reader->owned_source_ = std::move(source);
  return reader;
}

TraceReader::TraceReader(ByteSource* source, std::string name, BadLines bad_lines)
    : lines_(source, TraceLimits::kAccessLineSizeMax),
      name_(std::move(name)),
      bad_lines_(bad_lines) {}

// Which of the two kinds of files it is.
Status TraceReader::ReadHeader() {
  LineReader::Line line;
  NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines_.Next(&line));
  if (more && line.text == kTraceHeader) return neptune::OkStatus();
  if (more && line.text.starts_with('{')) {
    is_access_log_ = true;
    first_ = line;
    return neptune::OkStatus();
  }
  return InvalidArgument(name_, ":1: not a trace: the first line must be '", kTraceHeader,
                         "', or a line of a frontend's access log");
}

Status TraceReader::ParseLine(const LineReader::Line& line, TraceRecord* record) {
  const size_t size_max =
      is_access_log_ ? TraceLimits::kAccessLineSizeMax : TraceLimits::kLineSizeMax;
  if (line.too_long || line.text.size() > size_max) {
    return InvalidArgument("the line is longer than ", size_max, " bytes");
  }
  if (is_access_log_) return ParseAccessLine(line.text, record);
  NEPTUNE_RETURN_IF_ERROR(ParseTraceLine(line.text, record));
  return CheckOrder(*record);
}

Status TraceReader::CheckOrder(const TraceRecord& record) {
  if (record.time_us < last_time_us_) {
    return InvalidArgument("the time ", record.time_us, " is before ", last_time_us_,
                           " of the previous line");
  }
  last_time_us_ = record.time_us;
  return neptune::OkStatus();
}

StatusOr<bool> TraceReader::Next(TraceRecord* record) {
  if (!std::exchange(header_read_, true)) NEPTUNE_RETURN_IF_ERROR(ReadHeader());
  return is_access_log_ ? NextByArrival(record) : NextLine(record);
}

StatusOr<bool> TraceReader::NextLine(TraceRecord* record) {
  LineReader::Line line;
  for (;;) {
    if (first_) {
      line = *std::exchange(first_, std::nullopt);
    } else {
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines_.Next(&line));
      if (!more) return false;
    }
    if (!is_access_log_ && line.text.starts_with('#')) continue;
    lines_read_ = line.number;
    const Status status = ParseLine(line, record);
    if (status.ok()) return true;
    NEPTUNE_RETURN_IF_ERROR(CountBad(status, line.number));
  }
}

// Fails, or counts it.
Status TraceReader::CountBad(const Status& status, uint64_t line_number) {
  const Status located = neptune::Annotate(status, neptune::StrCat(name_, ":", line_number));
  if (bad_lines_ == BadLines::kFail) return located;
  if (bad_line_count_++ == 0) first_bad_line_ = neptune::ToStd(located.message());
  return neptune::OkStatus();
}

// A search is handed out once others have come that arrived kReorderTime later; times count from
// the first one's.
StatusOr<bool> TraceReader::NextByArrival(TraceRecord* record) {
  for (;;) {
    while (waiting_.empty() || (waiting_.size() < kReorderCountMax &&
                                newest_us_ - waiting_.top().time_us < kReorderTimeUs)) {
      TraceRecord read;
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, NextLine(&read));
      if (!more) break;
      newest_us_ = std::max(newest_us_, read.time_us);
      waiting_.push(std::move(read));
    }
    if (waiting_.empty()) return false;
    *record = waiting_.top();
    waiting_.pop();
    if (!begin_us_) begin_us_ = record->time_us;
    const uint64_t begin = *begin_us_;
    Status status = record->time_us < begin ? InvalidArgument("it arrived before the first request")
                                            : neptune::OkStatus();
    if (status.ok()) {
      record->time_us -= begin;
      status = record->time_us > TraceLimits::kTimeMaxUs
                   ? InvalidArgument("it arrived years after the first request")
                   : CheckOrder(*record);
    }
    if (status.ok()) return true;
    NEPTUNE_RETURN_IF_ERROR(CountBad(status, lines_read_));
  }
}

StatusOr<Trace> ReadTrace(const std::string& path, BadLines bad_lines, size_t record_count_max) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(path, bad_lines));
  Trace trace;
  TraceRecord record;
  for (;;) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    if (trace.records.size() == record_count_max) {
      return neptune::ResourceExhausted(path, " holds more than ", record_count_max,
                                        " requests; cut it with //tools:make_trace");
    }
    trace.records.push_back(record);
  }
  trace.bad_line_count = reader->bad_line_count();
  trace.first_bad_line = reader->first_bad_line();
  return trace;
}

StatusOr<std::unique_ptr<TraceWriter>> TraceWriter::Create(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<FileSink> sink,
                           CreateFileSink(path, PackingOfName(path)));
  return std::make_unique<TraceWriter>(std::move(sink));
}

Status TraceWriter::Append(std::string_view line) {
  buffer_ += line;
  if (buffer_.size() < kWriteBlockSize) return neptune::OkStatus();
  const Status status = sink_->Write(buffer_);
  buffer_.clear();
  return status;
}

Status TraceWriter::Write(const TraceRecord& record) {
  NEPTUNE_RETURN_IF_ERROR(CheckTraceClass(record.service_class));
  NEPTUNE_RETURN_IF_ERROR(CheckTraceQuery(record.query));
  if (record.time_us < last_time_us_ || record.time_us > TraceLimits::kTimeMaxUs) {
    return InvalidArgument("time ", record.time_us, " of a record after one of ", last_time_us_);
  }
  last_time_us_ = record.time_us;
  line_.clear();
  AppendTraceLine(record, &line_);
  return Append(line_);
}

Status TraceWriter::WriteComment(std::string_view text) {
  return Append(neptune::StrCat("# ", text, "\n"));
}

Status TraceWriter::Commit() {
  NEPTUNE_RETURN_IF_ERROR(sink_->Write(buffer_));
  buffer_.clear();
  return sink_->Commit();
}

}  // namespace search::tools
