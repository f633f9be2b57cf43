#include "tools/trace/trace_file.h"

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
    : lines_(source, TraceLimits::kLineSizeMax), name_(std::move(name)), bad_lines_(bad_lines) {}

Status TraceReader::ReadHeader() {
  LineReader::Line line;
  NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines_.Next(&line));
  if (more && line.text == kTraceHeader) return neptune::OkStatus();
  return InvalidArgument(name_, ":1: not a trace: the first line must be '", kTraceHeader, "'");
}

Status TraceReader::ParseLine(const LineReader::Line& line, TraceRecord* record) {
  if (line.too_long) {
    return InvalidArgument("a line of more than ", TraceLimits::kLineSizeMax, " bytes");
  }
  NEPTUNE_RETURN_IF_ERROR(ParseTraceLine(line.text, record));
  if (record->time_us < last_time_us_) {
    return InvalidArgument("the time ", record->time_us, " is before ", last_time_us_,
                           " of the line before");
  }
  last_time_us_ = record->time_us;
  return neptune::OkStatus();
}

StatusOr<bool> TraceReader::Next(TraceRecord* record) {
  if (!std::exchange(header_read_, true)) NEPTUNE_RETURN_IF_ERROR(ReadHeader());
  LineReader::Line line;
  for (;;) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines_.Next(&line));
    if (!more) return false;
    if (line.text.starts_with('#')) continue;
    const Status status = ParseLine(line, record);
    if (status.ok()) return true;
    const Status located = neptune::Annotate(status, neptune::StrCat(name_, ":", line.number));
    if (bad_lines_ == BadLines::kFail) return located;
    if (bad_line_count_++ == 0) first_bad_line_ = neptune::ToStd(located.message());
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
