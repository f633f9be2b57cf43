// Reads and writes trace files, one record at a time, compressed or plain; reads access logs of
// frontends as traces.
//
// Source: format.md.
// Threads: thread-compatible.
// Errors: those of the byte source and the file sink; INVALID_ARGUMENT "FILE:LINE: reason" for a
//   file that is not a trace, and for a malformed line with BadLines::kFail.
// Limits: a reader or writer holds one block and one line; a reader of an access log also the
//   searches of kReorderTimeUs; ReadTrace holds up to its record limit.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/file_sink.h"
#include "tools/streams/line_reader.h"
#include "tools/trace/trace_record.h"

namespace search::tools {

// Treatment of a line that does not parse or whose time is earlier than the previous line's.
enum class BadLines { kFail, kCount };

// "fail" or "count". Errors: INVALID_ARGUMENT any other word.
neptune::StatusOr<BadLines> ParseBadLines(std::string_view word);

class TraceReader {
 public:
  // Opens a trace; "-" is standard input.
  static neptune::StatusOr<std::unique_ptr<TraceReader>> Open(const std::string& path,
                                                              BadLines bad_lines);
  // REQUIRES: `source` outlives the reader. `name` is used in messages.
  TraceReader(ByteSource* source, std::string name, BadLines bad_lines);

  // False at the end.
  neptune::StatusOr<bool> Next(TraceRecord* record);

  uint64_t bad_line_count() const { return bad_line_count_; }
  // "FILE:LINE: reason" of the first bad line; empty if there is none.
  const std::string& first_bad_line() const { return first_bad_line_; }

 private:
  // Access log lines are ordered by completion; the reader sorts them by arrival within this
  // window.
  static constexpr uint64_t kReorderTimeUs = 60'000'000;
  static constexpr size_t kReorderCountMax = 200'000;

  struct Later {
    bool operator()(const TraceRecord& a, const TraceRecord& b) const {
      return a.time_us > b.time_us;
    }
  };

  neptune::Status ReadHeader();
  neptune::StatusOr<bool> NextLine(TraceRecord* record);
  neptune::StatusOr<bool> NextByArrival(TraceRecord* record);
  neptune::Status CheckOrder(const TraceRecord& record);
  neptune::Status CountBad(const neptune::Status& status, uint64_t line_number);
  neptune::Status ParseLine(const LineReader::Line& line, TraceRecord* record);

  std::unique_ptr<ByteSource> owned_source_;
  LineReader lines_;
  const std::string name_;
  const BadLines bad_lines_;
  bool header_read_ = false;
  bool is_access_log_ = false;
  std::optional<LineReader::Line> first_;  // first line, read to detect the format
  std::priority_queue<TraceRecord, std::vector<TraceRecord>, Later> waiting_;
  uint64_t lines_read_ = 0;
  uint64_t newest_us_ = 0;  // access log only, since 1970, as is the next
  std::optional<uint64_t> begin_us_;
  uint64_t last_time_us_ = 0;
  uint64_t bad_line_count_ = 0;
  std::string first_bad_line_;
};

// A whole trace in memory.
struct Trace {
  std::vector<TraceRecord> records;
  uint64_t bad_line_count = 0;
  std::string first_bad_line;
};
// Errors also: RESOURCE_EXHAUSTED over `record_count_max` records.
neptune::StatusOr<Trace> ReadTrace(const std::string& path, BadLines bad_lines,
                                   size_t record_count_max = TraceLimits::kRecordCountMax);

class TraceWriter {
 public:
  // Compresses according to the extension of the name.
  static neptune::StatusOr<std::unique_ptr<TraceWriter>> Create(const std::string& path);
  explicit TraceWriter(std::unique_ptr<FileSink> sink) : sink_(std::move(sink)) {}

  // Errors also: INVALID_ARGUMENT a record that the format cannot represent, or that is out of
  // order.
  neptune::Status Write(const TraceRecord& record);
  // Writes a comment line: "#" and the text. REQUIRES: no line break in it.
  neptune::Status WriteComment(std::string_view text);
  neptune::Status Commit();

 private:
  neptune::Status Append(std::string_view line);
  std::unique_ptr<FileSink> sink_;
  std::string buffer_ = std::string(kTraceHeader) + "\n";
  std::string line_;
  uint64_t last_time_us_ = 0;
};

}  // namespace search::tools
