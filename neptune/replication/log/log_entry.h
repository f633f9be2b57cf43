// Entries of a partition's REDO log: writes and changes of the write set.
//
// Source: [Shen02] 5.2.2 (REDO log: method, partition, request, log sequence number).
// Departs from source: an entry has the epoch in which it was ordered; a change of the write set is
//   an entry too; a write at `write_anywhere` has its origin.
// Threads: immutable values.
// Units: a log sequence number counts the entries of one partition from 1, without gaps; 0 precedes
//   the first. The version of a partition's data is the LSN of the last executed write.
// Errors: kDataLoss the bytes are not an entry, or damaged.
// Limits: kLsnMax; kLogPayloadSizeMax; kMemberCountMax members of a partition; methods of 255
//   bytes, as in a request.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

// Log sequence number.
using Lsn = uint64_t;
// Term number of a primary: larger for every new primary of a partition.
using Epoch = uint64_t;

// A larger number is refused wherever one is read from a disk or a message, so that the sum of a
// number and a count cannot wrap. No log gets there: at a million writes a second it takes
// 292,000 years.
inline constexpr Lsn kLsnMax = Lsn{1} << 63;
inline constexpr size_t kLogPayloadSizeMax = 32u << 20;
inline constexpr int kMemberCountMax = 16;

// Position among a partition's members in the cluster spec's order: 0 is the preferred primary.
using MemberIndex = uint8_t;

// A set of a partition's members.
class MemberSet {
 public:
  constexpr MemberSet() = default;
  constexpr explicit MemberSet(uint16_t bits) : bits_(bits) {}
  // The first `count` members.
  static constexpr MemberSet FirstOf(int count) {
    return MemberSet(static_cast<uint16_t>((1u << count) - 1));
  }

  constexpr bool contains(MemberIndex member) const { return ((bits_ >> member) & 1) != 0; }
  constexpr MemberSet With(MemberIndex member) const {
    return MemberSet(static_cast<uint16_t>(bits_ | (1u << member)));
  }
  constexpr MemberSet Without(MemberIndex member) const {
    return MemberSet(static_cast<uint16_t>(bits_ & ~(1u << member)));
  }
  constexpr int size() const { return __builtin_popcount(bits_); }
  constexpr uint16_t bits() const { return bits_; }
  friend constexpr bool operator==(MemberSet, MemberSet) = default;

 private:
  uint16_t bits_ = 0;
};

// Permanent identifier of a write, so that one submitted twice is executed once. Zero: none.
struct RequestId {
  uint64_t client = 0;
  uint64_t number = 0;

  bool given() const { return client != 0; }
  friend auto operator<=>(const RequestId&, const RequestId&) = default;
};

enum class EntryKind : uint8_t {
  kWrite = 0,
  // Changes the set of members that must store a write. The first entry of every epoch is one.
  kWriteSet = 1,
  // A write that any member may accept; its position differs from log to log.
  kCommutativeWrite = 2,
  // The number of writes of each origin before it; valid in its own log only (see origin_index.h).
  kOrigins = 3,
};

constexpr bool IsWrite(EntryKind kind) {
  return kind == EntryKind::kWrite || kind == EntryKind::kCommutativeWrite;
}

// Identifies a commutative write: the life of the disk of the member that accepted it, and the
// write's number in that life, from 1 to kLsnMax. It does not name the member, because members and
// their places in the spec change.
struct WriteOrigin {
  uint64_t life = 0;
  uint64_t number = 0;
  friend bool operator==(const WriteOrigin&, const WriteOrigin&) = default;
};

struct LogEntry {
  Lsn lsn = 0;
  Epoch epoch = 0;
  EntryKind kind = EntryKind::kWrite;
  MemberSet write_set;  // kWriteSet only
  WriteOrigin origin;   // kCommutativeWrite only
  MethodName method;    // this and the following fields: writes only
  RequestId request_id;
  // The primary's clock when it ordered the write, so that all replicas execute it with the same
  // time. Never before that of an earlier entry, also of earlier primaries.
  WallTime accepted_at;
  std::string payload;  // also set for kOrigins
};

bool operator==(const LogEntry& a, const LogEntry& b);

// Encodes the entry with its checksum, as stored and sent; README.md has the format.
std::string EncodeLogEntry(const LogEntry& entry);
StatusOr<LogEntry> DecodeLogEntry(std::string_view bytes);

}  // namespace neptune
