// Keeps the latest notable searches, a bounded number of each kind, sampled or not.
//
//   every search ─► issues? ── partial, cut, refused, failed ──► latest kTracesOfKind of each
//                └► how long? ─ < 5 ms, < 20, < 50, ... >= 1 s ─► latest kTracesOfKind of each
//                └► sampled? ──────────────────────────────────► latest kTracesOfKind
//
// There is always an example of every kind that has occurred: many fast searches do not evict a
// slow one. Keeping a search costs a copy, so at most kKeptInSecond of one kind are kept per
// second. The others are counted, in cells of their thread, and take no lock.
//
// Time is an argument. Threads: thread-safe.
// Limits: kTracesOfKind of each of 13 kinds; only the first kTreeServersKept servers of a tree are
//   kept.

#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "frontend/trace/search_trace.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"

namespace search::frontend {

class TraceLog {
 public:
  static constexpr size_t kTracesOfKind = 32;
  static constexpr int kKeptInSecond = 10;
  static constexpr size_t kTreeServersKept = 256;

  // `keeps_queries`: false if queries must not be stored.
  explicit TraceLog(bool keeps_queries);

  void Keep(const SearchAnswer& answer, const neptune::Status& status,
            std::string_view service_class, bool sampled, neptune::TimePoint now);
  // Counts a search that ended well and is not kept: a page that was repeated.
  void Count(neptune::Duration took, bool is_partial);

  using Kept = std::shared_ptr<const SearchTrace>;
  struct Kind {
    std::string name;  // "partial", "20 to 50 ms", "sampled"
    uint64_t seen_count = 0;
    std::vector<Kept> latest;  // the latest first
  };
  std::vector<Kind> Snapshot() const;
  // Traces of all kinds, latest first.
  std::vector<Kept> Latest(size_t count) const;
  // Null if no trace with this id is kept.
  Kept Find(std::string_view id) const;

 private:
  static constexpr std::array<neptune::Duration, 7> kLatencyBounds = {
      std::chrono::milliseconds(5),   std::chrono::milliseconds(20),
      std::chrono::milliseconds(50),  std::chrono::milliseconds(100),
      std::chrono::milliseconds(200), std::chrono::milliseconds(500),
      std::chrono::milliseconds(1000)};
  static constexpr size_t kKindCount = kTraceIssueCount + kLatencyBounds.size() + 2;

  struct Ring {
    std::deque<Kept> traces;  // the latest first
    neptune::TimePoint second_began{};
    int kept_in_second = 0;
  };
  static std::vector<size_t> KindsOf(const SearchAnswer& answer, const neptune::Status& status,
                                     bool sampled);
  static size_t KindOfTime(neptune::Duration took);
  static std::string NameOf(size_t kind);
  // True if a search of the kind may be kept now.
  bool Admits(size_t kind, neptune::TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const bool keeps_queries_;
  std::array<neptune::Counter, kKindCount> seen_;
  // No search of the kind is kept before this time, in TimePoint's units. Written once a second.
  std::array<std::atomic<neptune::Duration::rep>, kKindCount> full_until_;
  mutable neptune::LeafMutex mutex_;
  std::array<Ring, kKindCount> rings_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::frontend
