// Writes in the order in which every replica of a partition executes them.
//
// Source: [Shen02] 5.2.2 (REDO log: method, partition, request, log sequence number).
// Departs from source: an entry says in which epoch it was ordered; a change of the write set is an entry too. A write of
//   level 1 says whose it is.
// Threads: immutable values.
// Units: a log sequence number counts entries of one partition from 1, without gaps; 0 stands before the first. The
//   version of a partition's data is that of the last write that was executed.
// Errors: kDataLoss the bytes are no entry, or damaged.
// Limits: kLogPayloadSizeMax; kMemberCountMax members of a partition; methods of 255 bytes, as in a request.

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
// Number of a primacy: larger for every new primary of a partition.
using Epoch = uint64_t;

inline constexpr size_t kLogPayloadSizeMax = 32u << 20;
inline constexpr int kMemberCountMax = 16;

// Place among a partition's members, as the cluster spec orders them: 0 is preferred as the primary.
using MemberIndex = uint8_t;

// Some of a partition's members.
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

// Names a write for ever, so that one that is submitted twice is executed once. Zero: no name.
struct RequestId {
  uint64_t client = 0;
  uint64_t number = 0;

  bool given() const { return client != 0; }
  friend auto operator<=>(const RequestId&, const RequestId&) = default;
};

enum class EntryKind : uint8_t {
  kWrite = 0,
  // From here on writes wait for these members. The first entry of every epoch is one.
  kWriteSet = 1,
  // A write that any member may take, and whose place in the order is each log's own.
  kCommutativeWrite = 2,
  // How many writes of each origin stand before it; for its own log only (see origin_index.h).
  kOrigins = 3,
};

constexpr bool IsWrite(EntryKind kind) {
  return kind == EntryKind::kWrite || kind == EntryKind::kCommutativeWrite;
}

// Who took a commutative write: a member, in one life of its disk, as its write of this number from 1. Which member that
// was, nobody has to know: members come and go, and their places in the spec with them.
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
  MethodName method;    // writes only, as the rest
  RequestId request_id;
  // The primary's clock when it took the write, so that all replicas execute it at the same time.
  WallTime accepted_at;
  std::string payload;  // also of kOrigins
};

bool operator==(const LogEntry& a, const LogEntry& b);

// The entry's bytes with their checksum, as they are stored and sent; see README.md.
std::string EncodeLogEntry(const LogEntry& entry);
StatusOr<LogEntry> DecodeLogEntry(std::string_view bytes);

}  // namespace neptune
