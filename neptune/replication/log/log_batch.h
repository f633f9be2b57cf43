// The batches of a node's log in bytes: one for each group of changes that is stored together.
//
//   segment:  batch | batch | batch ...          batch:  header | record | record ...
//
// A record is a change of one partition's log. It names the batch that has the partition's previous
// record, so that a reader who finds a hole in the log knows which partitions have lost something.
// README.md has the format with an example.
//
// No I/O.
// Threads: thread-compatible.
// Errors: bytes that are not a batch give nullopt, records that are malformed false.
// Limits: a batch has at most kLogBatchSizeMax bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/replication/log/log_entry.h"

namespace neptune {

inline constexpr size_t kLogBatchSizeMax = 256u << 20;
inline constexpr size_t kLogBatchHeaderSize = 32;
inline constexpr uint32_t kLogBatchMagic = 0x4e4c4731;  // "NLG1"

enum class LogRecordKind : uint8_t {
  kChange = 1,   // entries that are added and dropped, and the new state
  kCopy = 2,     // entries of an old segment again, so that it can be removed
  kSummary = 3,  // all that the log knows of a partition, without its entries
  kSegment = 4,  // begins a segment: the batch has a summary of every partition
};

// A record; the views are into the batch, or into what is written.
struct LogRecord {
  uint32_t partition = 0;
  LogRecordKind kind = LogRecordKind::kChange;
  // kChange: all earlier entries are dropped. kSummary: the partition's log is damaged.
  bool is_restart = false;
  bool is_damaged = false;
  // Number of the batch with the partition's previous record; 0: there is none.
  uint64_t previous = 0;
  // kChange: earlier entries from here on are dropped; 0: none.
  Lsn drop_from = 0;
  // The entries of the partition's log after this record.
  Lsn first_lsn = 1;
  Lsn last_lsn = 0;
  std::string_view name;      // of the partition; empty: known
  std::string_view identity;  // empty: unchanged
  std::string_view state;     // empty: unchanged
  Lsn entries_lsn = 0;        // of the first of `entries`
  std::vector<std::string_view> entries;
};

// Header of a batch, and its records in bytes.
struct LogBatch {
  uint64_t number = 0;             // counts the batches of the log from 1
  uint64_t previous_checksum = 0;  // of the batch before it; 0: none
  uint64_t checksum = 0;
  std::string_view records;

  size_t size() const { return kLogBatchHeaderSize + records.size(); }
};

// `salt` differs from log to log, so that no batch of one is taken for one of another.
class LogBatchWriter {
 public:
  LogBatchWriter(uint64_t salt, uint64_t number, uint64_t previous_checksum)
      : salt_(salt), number_(number), previous_checksum_(previous_checksum) {}

  // Appends the record; adds the offset of each of its entries within the batch.
  void Add(const LogRecord& record, std::vector<size_t>* entry_offsets);
  size_t size() const { return kLogBatchHeaderSize + records_.size(); }
  bool empty() const { return records_.empty(); }

  struct Written {
    std::string bytes;
    uint64_t checksum = 0;
  };
  Written Finish();
  // The batch with these records instead, whatever they are.
  Written FinishWith(std::string_view records) const;

 private:
  const uint64_t salt_;
  const uint64_t number_;
  const uint64_t previous_checksum_;
  std::string records_;
};

// The size of the batch that begins with this header; nullopt: it is none.
std::optional<size_t> SizeOfLogBatch(std::string_view header);

// Reads the batch at the beginning of `bytes`.
std::optional<LogBatch> ReadLogBatch(uint64_t salt, std::string_view bytes);

// Calls `visitor` with each record.
bool ReadLogRecords(std::string_view records, const std::function<void(const LogRecord&)>& visitor);

}  // namespace neptune
