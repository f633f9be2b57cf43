// Any bytes as a trace and as an access log: refused or read, within bounds, and what was read is
// written and read back the same.

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "tools/trace/query_import.h"
#include "tools/trace/trace_file.h"

namespace {

using search::tools::TraceRecord;

class BytesSource final : public search::tools::ByteSource {
 public:
  explicit BytesSource(std::string_view bytes) : bytes_(bytes) {}
  neptune::StatusOr<size_t> Read(char* buffer, size_t size) override {
    size = std::min(size, bytes_.size());
    std::memcpy(buffer, bytes_.data(), size);
    bytes_.remove_prefix(size);
    return size;
  }
  uint64_t file_position() const override { return 0; }

 private:
  std::string_view bytes_;
};

void CheckRecord(const TraceRecord& record) {
  std::string line;
  search::tools::AppendTraceLine(record, &line);
  CHECK_LE(line.size(), search::tools::TraceLimits::kLineSizeMax);
  line.pop_back();
  TraceRecord again;
  CHECK(search::tools::ParseTraceLine(line, &again).ok());
  CHECK(again == record);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  BytesSource source(bytes);
  search::tools::TraceReader reader(&source, "fuzz", search::tools::BadLines::kCount);
  TraceRecord record;
  uint64_t last_us = 0;
  for (;;) {
    const auto more = reader.Next(&record);
    if (!more.ok() || !*more) break;
    CHECK_GE(record.time_us, last_us);
    last_us = record.time_us;
    CheckRecord(record);
  }
  const auto entry = search::tools::ParseAccessLogLine(bytes.substr(0, 4096), "q");
  if (entry.ok() && !entry->query.empty()) CheckRecord({0, "bronze", entry->query});
  return 0;
}
