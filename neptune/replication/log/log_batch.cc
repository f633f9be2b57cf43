#include "neptune/replication/log/log_batch.h"

#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"

namespace neptune {
namespace {

constexpr uint8_t kRestartFlag = 1;
constexpr uint8_t kDamagedFlag = 2;
constexpr size_t kChecksumOffset = kLogBatchHeaderSize - sizeof(uint64_t);

uint64_t ChecksumOf(uint64_t salt, std::string_view header, std::string_view records) {
  return Checksum64(records, Checksum64(header.substr(0, kChecksumOffset), salt));
}

bool IsKind(uint8_t kind) {
  return kind >= static_cast<uint8_t>(LogRecordKind::kChange) &&
         kind <= static_cast<uint8_t>(LogRecordKind::kSegment);
}

// False: malformed.
bool ReadRecord(ByteReader& in, LogRecord& record) {
  record.partition = in.Number<uint32_t>();
  const uint8_t kind = in.Number<uint8_t>();
  const uint8_t flags = in.Number<uint8_t>();
  if (!IsKind(kind) || flags > (kRestartFlag | kDamagedFlag)) return false;
  record.kind = static_cast<LogRecordKind>(kind);
  record.is_restart = (flags & kRestartFlag) != 0;
  record.is_damaged = (flags & kDamagedFlag) != 0;
  record.previous = in.Number<uint64_t>();
  record.drop_from = in.Number<uint64_t>();
  record.first_lsn = in.Number<uint64_t>();
  record.last_lsn = in.Number<uint64_t>();
  record.name = in.Counted<uint16_t>();
  record.identity = in.Counted<uint32_t>();
  record.state = in.Counted<uint32_t>();
  record.entries_lsn = in.Number<uint64_t>();
  const uint32_t count = in.Number<uint32_t>();
  for (uint32_t i = 0; i < count && !in.failed(); ++i) {
    record.entries.push_back(in.Counted<uint32_t>());
    if (record.entries.back().empty()) return false;
  }
  return !in.failed();
}

}  // namespace

void LogBatchWriter::Add(const LogRecord& record, std::vector<size_t>* entry_offsets) {
  ByteWriter out(&records_);
  out.Number(record.partition);
  out.Number(static_cast<uint8_t>(record.kind));
  out.Number(static_cast<uint8_t>((record.is_restart ? kRestartFlag : 0) |
                                  (record.is_damaged ? kDamagedFlag : 0)));
  out.Number(record.previous);
  out.Number(record.drop_from);
  out.Number(record.first_lsn);
  out.Number(record.last_lsn);
  out.Counted<uint16_t>(record.name);
  out.Counted<uint32_t>(record.identity);
  out.Counted<uint32_t>(record.state);
  out.Number(record.entries_lsn);
  out.Number(static_cast<uint32_t>(record.entries.size()));
  for (const std::string_view entry : record.entries) {
    entry_offsets->push_back(size() + sizeof(uint32_t));
    out.Counted<uint32_t>(entry);
  }
}

LogBatchWriter::Written LogBatchWriter::Finish() { return FinishWith(std::exchange(records_, {})); }

LogBatchWriter::Written LogBatchWriter::FinishWith(std::string_view records) const {
  Written written;
  written.bytes.reserve(kLogBatchHeaderSize + records.size());
  ByteWriter out(&written.bytes);
  out.Number(kLogBatchMagic);
  out.Number(static_cast<uint32_t>(records.size()));
  out.Number(number_);
  out.Number(previous_checksum_);
  written.checksum = ChecksumOf(salt_, written.bytes, records);
  out.Number(written.checksum);
  out.Bytes(records);
  return written;
}

std::optional<size_t> SizeOfLogBatch(std::string_view header) {
  ByteReader in(header.substr(0, kLogBatchHeaderSize));
  const uint32_t magic = in.Number<uint32_t>();
  const uint32_t size = in.Number<uint32_t>();
  const bool is_header = !in.failed() && magic == kLogBatchMagic && size <= kLogBatchSizeMax;
  return is_header ? std::optional(kLogBatchHeaderSize + size) : std::nullopt;
}

std::optional<LogBatch> ReadLogBatch(uint64_t salt, std::string_view bytes) {
  ByteReader in(bytes.substr(0, kLogBatchHeaderSize));
  const uint32_t magic = in.Number<uint32_t>();
  const uint32_t size = in.Number<uint32_t>();
  LogBatch batch;
  batch.number = in.Number<uint64_t>();
  batch.previous_checksum = in.Number<uint64_t>();
  batch.checksum = in.Number<uint64_t>();
  const bool is_header = !in.failed() && magic == kLogBatchMagic && size <= kLogBatchSizeMax;
  if (!is_header || size > bytes.size() - kLogBatchHeaderSize) return std::nullopt;
  batch.records = bytes.substr(kLogBatchHeaderSize, size);
  if (batch.checksum != ChecksumOf(salt, bytes, batch.records)) return std::nullopt;
  return batch;
}

bool ReadLogRecords(std::string_view records,
                    const std::function<void(const LogRecord&)>& visitor) {
  ByteReader in(records);
  while (!in.failed() && in.remaining() > 0) {
    LogRecord record;
    if (!ReadRecord(in, record)) return false;
    visitor(record);
  }
  return !in.failed();
}

}  // namespace neptune
