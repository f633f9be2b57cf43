#include "cache/persistent/persistent_cache.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"

namespace search::cache {

using neptune::KeyValueStore;
using neptune::LeafLock;
using neptune::Status;
using neptune::StatusOr;
using neptune::StoreChanges;
using neptune::StoreView;
using neptune::TimePoint;
using neptune::WriteBatch;
using neptune::WriteMode;

namespace {

int64_t Nanos(TimePoint time) { return time.time_since_epoch().count(); }

class PersistentCache final : public ResultCache {
 public:
  PersistentCache(std::unique_ptr<KeyValueStore> store, const ResultCacheOptions& options)
      : store_(std::move(store)),
        view_(*store_),
        limits_{.size_max = options.size_max, .value_size_max = options.value_size_max} {}

  StatusOr<std::optional<CachedResult>> Lookup(const CacheKey& key, TimePoint now) override {
    LeafLock lock(&mutex_);
    NEPTUNE_ASSIGN_OR_RETURN(FoundEntry found, FindEntry(view_, key, Nanos(now)));
    if (found.outcome == PersistentFind::kExpired) ++stats_.expiration_count;
    if (found.outcome != PersistentFind::kFound) {
      ++stats_.miss_count;
      return std::optional<CachedResult>();
    }
    ++stats_.hit_count;
    CachedResult result;
    result.age = neptune::Duration(Nanos(now) - found.entry.inserted_ns());
    result.value = std::make_shared<const std::string>(std::move(*found.entry.mutable_value()));
    return std::optional<CachedResult>(std::move(result));
  }

  StatusOr<bool> Insert(const CacheKey& key, CacheValue value, TimePoint now) override {
    PersistentEntry entry;
    entry.set_query(std::string(key.query));
    entry.set_index_version(key.index_version);
    entry.set_value(std::move(value.value));
    entry.set_inserted_ns(Nanos(now));
    entry.set_time_to_live_ns(value.time_to_live.count());
    LeafLock lock(&mutex_);
    WriteBatch batch;
    StoreChanges changes(batch);
    NEPTUNE_ASSIGN_OR_RETURN(const InsertOutcome outcome,
                             InsertEntry(view_, limits_, std::move(entry), changes));
    NEPTUNE_RETURN_IF_ERROR(store_->Write(batch, WriteMode::kBuffered));
    ++(outcome.stored ? stats_.insert_count : stats_.refused_count);
    stats_.eviction_count += outcome.evicted_count;
    return outcome.stored;
  }

  Status Clear() override {
    LeafLock lock(&mutex_);
    WriteBatch batch;
    StoreChanges changes(batch);
    ClearEntries(changes);
    return store_->Write(batch, WriteMode::kBuffered);
  }

  ResultCacheStats Stats() const override {
    LeafLock lock(&mutex_);
    ResultCacheStats stats = stats_;
    const StatusOr<PersistentTotals> totals = ReadTotals(view_);
    if (!totals.ok()) return stats;
    stats.size = totals->size();
    stats.entry_count = totals->entry_count();
    return stats;
  }

  std::string_view name() const override { return kPersistentCacheName; }

 private:
  const std::unique_ptr<KeyValueStore> store_;
  const StoreView view_;
  const PersistentLimits limits_;
  mutable neptune::LeafMutex mutex_;
  ResultCacheStats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<ResultCache> MakePersistentCache(std::unique_ptr<KeyValueStore> store,
                                                 const ResultCacheOptions& options) {
  return std::make_unique<PersistentCache>(std::move(store), options);
}

}  // namespace search::cache
