// Which version of the index searches ask for, and which one they asked for before: after a switch,
// answers of the former version may be given for a while (SearchPlanOptions::stale_answers).
//
// No I/O; the caller passes the time.
// Threads: thread-safe; version() is wait-free.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "index/core/query/synonyms.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"

namespace search::frontend {

// The index that searches are for.
struct AskedIndex {
  // In the cache, the tiers and the document servers; 0: any version that the servers have.
  uint64_t version = 0;
  // Synonyms that are added to the words of a query; null: none.
  std::shared_ptr<const index::SynonymSets> synonyms = nullptr;
};

class AskedIndexes {
 public:
  // `former_life`: how long after a switch the former index is known; 0: never.
  explicit AskedIndexes(neptune::Duration former_life) : former_life_(former_life) {}

  // Subsequent searches ask this index.
  void Ask(AskedIndex index, neptune::TimePoint now) {
    neptune::LeafLock lock(&mutex_);
    if (index.version != now_.version) {
      former_ = std::move(now_);
      switched_at_ = now;
    }
    now_ = std::move(index);
    version_.store(now_.version, std::memory_order_relaxed);
  }

  AskedIndex Now() const {
    neptune::LeafLock lock(&mutex_);
    return now_;
  }

  // The index that was asked before. Unset: there was none with a number, or the switch was too
  // long ago.
  std::optional<AskedIndex> FormerAt(neptune::TimePoint now) const {
    neptune::LeafLock lock(&mutex_);
    if (now_.version == 0 || former_.version == 0) return std::nullopt;
    if (now - switched_at_ >= former_life_) return std::nullopt;
    return former_;
  }

  uint64_t version() const { return version_.load(std::memory_order_relaxed); }

 private:
  const neptune::Duration former_life_;
  mutable neptune::LeafMutex mutex_;
  AskedIndex now_ ABSL_GUARDED_BY(mutex_);
  AskedIndex former_ ABSL_GUARDED_BY(mutex_);
  neptune::TimePoint switched_at_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> version_{0};  // of now_
};

}  // namespace search::frontend
