#include "neptune/replication/log/log_entry.h"

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

// Version of the whole format; entries of other versions are rejected.
constexpr uint8_t kEntryVersion = 1;

void WriteBody(const LogEntry& entry, ByteWriter& out) {
  out.Number(kEntryVersion);
  out.Number(static_cast<uint8_t>(entry.kind));
  out.Number(entry.lsn);
  out.Number(entry.epoch);
  if (entry.kind == EntryKind::kWriteSet) {
    out.Number(entry.write_set.bits());
    return;
  }
  if (entry.kind == EntryKind::kOrigins) {
    out.Counted<uint32_t>(entry.payload);
    return;
  }
  if (entry.kind == EntryKind::kCommutativeWrite) {
    out.Number(entry.origin.life);
    out.Number(entry.origin.number);
  }
  out.Counted<uint8_t>(entry.method.value());
  out.Number(entry.request_id.client);
  out.Number(entry.request_id.number);
  out.Number(static_cast<uint64_t>(entry.accepted_at.ns_since_1970));
  out.Counted<uint32_t>(entry.payload);
}

// REQUIRES: the checksum was right. The content may still be invalid.
StatusOr<LogEntry> ReadBody(std::string_view body) {
  ByteReader in(body);
  LogEntry entry;
  const uint8_t version = in.Number<uint8_t>();
  if (version != kEntryVersion) {
    return DataLoss("log entry has version ", int{version}, ", expected ", int{kEntryVersion});
  }
  const uint8_t kind = in.Number<uint8_t>();
  if (kind > static_cast<uint8_t>(EntryKind::kOrigins)) {
    return DataLoss("log entry has unknown kind ", int{kind});
  }
  entry.kind = static_cast<EntryKind>(kind);
  entry.lsn = in.Number<uint64_t>();
  entry.epoch = in.Number<uint64_t>();
  if (entry.kind == EntryKind::kWriteSet) {
    entry.write_set = MemberSet(in.Number<uint16_t>());
  } else if (entry.kind == EntryKind::kOrigins) {
    entry.payload = std::string(in.Counted<uint32_t>());
  } else {
    if (entry.kind == EntryKind::kCommutativeWrite) {
      entry.origin.life = in.Number<uint64_t>();
      entry.origin.number = in.Number<uint64_t>();
    }
    entry.method = MethodName(std::string(in.Counted<uint8_t>()));
    entry.request_id.client = in.Number<uint64_t>();
    entry.request_id.number = in.Number<uint64_t>();
    entry.accepted_at.ns_since_1970 = static_cast<int64_t>(in.Number<uint64_t>());
    entry.payload = std::string(in.Counted<uint32_t>());
  }
  const bool is_numbered = entry.lsn > 0 && entry.lsn <= kLsnMax && entry.origin.number <= kLsnMax;
  if (!in.finished() || !is_numbered || entry.payload.size() > kLogPayloadSizeMax) {
    return DataLoss(body.size(), " bytes are not a log entry");
  }
  return entry;
}

}  // namespace

bool operator==(const LogEntry& a, const LogEntry& b) {
  return a.lsn == b.lsn && a.epoch == b.epoch && a.kind == b.kind && a.write_set == b.write_set &&
         a.origin == b.origin && a.method == b.method && a.request_id == b.request_id &&
         a.accepted_at.ns_since_1970 == b.accepted_at.ns_since_1970 && a.payload == b.payload;
}

std::string EncodeLogEntry(const LogEntry& entry) {
  std::string bytes(sizeof(uint64_t), '\0');
  bytes.reserve(64 + entry.method.value().size() + entry.payload.size());
  ByteWriter out(&bytes);
  WriteBody(entry, out);
  StoreBigEndian(Checksum64(std::string_view(bytes).substr(sizeof(uint64_t))), bytes.data());
  return bytes;
}

StatusOr<LogEntry> DecodeLogEntry(std::string_view bytes) {
  if (bytes.size() < sizeof(uint64_t)) return DataLoss(bytes.size(), " bytes are not a log entry");
  const std::string_view body = bytes.substr(sizeof(uint64_t));
  if (LoadBigEndian<uint64_t>(bytes.data()) != Checksum64(body)) {
    return DataLoss("log entry of ", bytes.size(), " bytes has a wrong checksum");
  }
  return ReadBody(body);
}

}  // namespace neptune
