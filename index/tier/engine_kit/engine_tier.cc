#include <utility>

#include "index/tier/engine_kit/engine_answer.h"
#include "index/tier/engine_kit/engine_tables.h"
#include "index/tier/engine_kit/engine_variant.h"
#include "index/tier/search_input.h"
#include "neptune/base/leaf_mutex.h"

namespace search::index {
namespace {

using neptune::Status;
using neptune::StatusOr;

// State shared by searches, including abandoned ones that are still running.
class SharedPartition {
 public:
  SharedPartition(const EngineDriver& driver, std::string directory, EnginePartition partition)
      : driver_(driver), directory_(std::move(directory)), partition_(std::move(partition)) {}

  const EnginePartition& partition() const { return partition_; }

  StatusOr<TierAnswer> Answer(const TierQuery& tier_query, const Query& query,
                              const std::function<bool()>& stop) {
    TierAnswer answer;
    NEPTUNE_RETURN_IF_ERROR(driver_.Guarded(directory_, [&]() -> Status {
      NEPTUNE_ASSIGN_OR_RETURN(auto store, AcquireStore());
      NEPTUNE_ASSIGN_OR_RETURN(
          answer, AnswerByEngine(partition_, tier_query, query, stop, store->searcher()));
      neptune::LeafLock lock(&mutex_);
      idle_.push_back(std::move(store));
      return neptune::OkStatus();
    }));
    return answer;
  }

 private:
  StatusOr<std::unique_ptr<EngineStore>> AcquireStore() {
    {
      neptune::LeafLock lock(&mutex_);
      if (!idle_.empty()) {
        auto store = std::move(idle_.back());
        idle_.pop_back();
        return store;
      }
    }
    return driver_.open({.directory = directory_}, EngineMode::kRead);
  }

  const EngineDriver driver_;
  const std::string directory_;
  const EnginePartition partition_;
  neptune::LeafMutex mutex_;
  // Each serves one search at a time; stores that met an error are not returned to the list.
  std::vector<std::unique_ptr<EngineStore>> idle_ ABSL_GUARDED_BY(mutex_);
};

class EngineTier : public IndexTier {
 public:
  explicit EngineTier(std::shared_ptr<SharedPartition> shared) : shared_(std::move(shared)) {}

  StatusOr<TierAnswer> Search(const TierQuery& tier_query,
                              const TierSearchControl& control) const override {
    return SearchWithinRead(tier_query, control, [shared = shared_](const auto&... asked) {
      return shared->Answer(asked...);
    });
  }
  TierInfo Info() const override {
    const EnginePartition& partition = shared_->partition();
    return {std::string(partition.name), partition.index_version, partition.documents.size(), true};
  }

 private:
  const std::shared_ptr<SharedPartition> shared_;
};

}  // namespace

StatusOr<EnginePartition> ReadEnginePartition(const EngineDriver& driver,
                                              const std::string& directory,
                                              uint64_t index_version) {
  CollectionRecord collection;
  std::vector<DocumentRecord> documents;
  NEPTUNE_RETURN_IF_ERROR(driver.Guarded(directory, [&]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(const auto store,
                             driver.open({.directory = directory}, EngineMode::kRead));
    NEPTUNE_ASSIGN_OR_RETURN(collection, ReadCollection(*store, directory));
    NEPTUNE_ASSIGN_OR_RETURN(documents, ReadDocuments(*store, directory));
    return neptune::OkStatus();
  }));
  return EnginePartition(driver.name, index_version, collection, std::move(documents));
}

StatusOr<std::unique_ptr<IndexTier>> OpenEngineTier(const EngineDriver& driver,
                                                    const std::string& directory,
                                                    uint64_t index_version) {
  NEPTUNE_ASSIGN_OR_RETURN(EnginePartition partition,
                           ReadEnginePartition(driver, directory, index_version));
  return std::make_unique<EngineTier>(
      std::make_shared<SharedPartition>(driver, directory, std::move(partition)));
}

}  // namespace search::index
