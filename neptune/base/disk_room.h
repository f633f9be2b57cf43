// What the free space of a node's disk allows, so that the disk is never full: logs stop first,
// then new writes, then copies of other members' writes. Reads always go on.
//
//   free:  ... ── 2 x reserve ── reserve ─────── reserve / 2 ────────── 0
//   stops:        logs           new writes      entries of others
//
// Each step is taken back once the free space exceeds its mark by an eighth, so that it does not
// flap. The reserve is for what must be stored whatever happens: votes and epochs, writes that were
// accepted before, and the merging of stores.
//
// No I/O, no clock; the owner passes in what it measures.
// Threads: Update on one thread at a time; the rest on any thread.
// Units: bytes.
// Errors: CheckWrite: kResourceExhausted.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "neptune/base/status.h"

namespace neptune {

// Space of the file system that holds a node's data. The default is as much as is ever needed.
struct DiskSpace {
  uint64_t total = UINT64_MAX;
  uint64_t free = UINT64_MAX;  // for this process
};

class DiskRoom {
 public:
  enum class Level : uint8_t { kAmple, kLow, kFull, kCritical };
  static constexpr uint64_t kReserveMin = uint64_t{256} << 20;
  static constexpr uint64_t kReserveShare = 100;  // of the whole disk, as a divisor

  // `reserve` 0: a hundredth of the disk, at least kReserveMin, at most a tenth of the disk.
  explicit DiskRoom(uint64_t reserve = 0) : wanted_reserve_(reserve) {}

  // Takes a measurement; returns true if the level has changed.
  bool Update(const DiskSpace& space);

  Level level() const { return level_.load(std::memory_order_relaxed); }
  bool may_log() const { return level() < Level::kLow; }
  // Errors: kResourceExhausted a new write must be refused; it is counted.
  Status CheckWrite() const;
  // True if entries and data of other members may be stored.
  bool may_follow() const { return level() < Level::kCritical; }

  // The values of the last measurement.
  uint64_t free() const { return free_.load(std::memory_order_relaxed); }
  uint64_t reserve() const { return reserve_.load(std::memory_order_relaxed); }
  uint64_t refused_count() const { return refused_count_.load(std::memory_order_relaxed); }

 private:
  const uint64_t wanted_reserve_;
  std::atomic<Level> level_{Level::kAmple};
  std::atomic<uint64_t> free_{UINT64_MAX};
  std::atomic<uint64_t> reserve_{0};
  mutable std::atomic<uint64_t> refused_count_{0};
};

std::string_view NameOf(DiskRoom::Level level);

}  // namespace neptune
