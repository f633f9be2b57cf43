#include "index/tier/rocksdb_postings/rocksdb_postings_tier.h"

#include <utility>

#include "index/tier/engine_kit/engine_answer.h"
#include "index/tier/engine_kit/engine_variant.h"
#include "index/tier/operators.h"
#include "index/tier/rocksdb_postings/posting_database.h"
#include "index/tier/rocksdb_postings/posting_searcher.h"
#include "index/tier/rocksdb_postings/posting_store.h"
#include "index/tier/search_input.h"

namespace search::index {
namespace {

using rocksdb_postings::PostingDatabase;
using rocksdb_postings::PostingSearcher;
using rocksdb_postings::PostingStore;
using rocksdb_postings::QueryPostings;

constexpr EngineDriver kDriver = {.name = kRocksdbPostingsTierName, .open = &PostingStore::Open};

// Only the reading of postings may wait for a disk; what follows uses memory alone and runs where
// the search does.
class RocksdbPostingsTier : public IndexTier {
 public:
  RocksdbPostingsTier(std::shared_ptr<const PostingDatabase> database, EnginePartition partition)
      : database_(std::move(database)), partition_(std::move(partition)) {}

  neptune::StatusOr<TierAnswer> Search(const TierQuery& tier_query,
                                       const TierSearchControl& control) const override {
    NEPTUNE_RETURN_IF_ERROR(ValidateTierQuery(tier_query));
    NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<const Query> parsed, ReadTierQuery(tier_query));
    const Query& query = *parsed;
    NEPTUNE_RETURN_IF_ERROR(CheckForEngine(tier_query, query));
    NEPTUNE_ASSIGN_OR_RETURN(const QueryPostings postings, ReadPostings(query, control));
    PostingSearcher searcher(postings, partition_.documents.size());
    return AnswerByEngine(partition_, tier_query, query, StopFunction(control), &searcher);
  }

  TierInfo Info() const override {
    return {kRocksdbPostingsTierName, partition_.index_version, partition_.documents.size(), true};
  }

 private:
  neptune::StatusOr<QueryPostings> ReadPostings(const Query& query,
                                                const TierSearchControl& control) const {
    // Owned by the function that runs: it may outlive the search, but not the tier's database.
    struct Reading {
      std::shared_ptr<const PostingDatabase> database;
      Query query;
      neptune::StatusOr<QueryPostings> postings = neptune::Internal("postings are not read");
    };
    const auto reading = std::make_shared<Reading>(Reading{database_, query});
    NEPTUNE_RETURN_IF_ERROR(ReadStore(control, [reading] {
      reading->postings = QueryPostings::Read(*reading->database, reading->query);
    }));
    return std::move(reading->postings);
  }

  const std::shared_ptr<const PostingDatabase> database_;
  const EnginePartition partition_;
};

}  // namespace

neptune::StatusOr<std::unique_ptr<IndexTier>> OpenRocksdbPostingsTier(const std::string& directory,
                                                                      uint64_t index_version) {
  NEPTUNE_ASSIGN_OR_RETURN(EnginePartition partition,
                           ReadEnginePartition(kDriver, directory, index_version));
  NEPTUNE_ASSIGN_OR_RETURN(auto database,
                           PostingDatabase::Open(directory, PostingDatabase::Mode::kReadOnly));
  return std::make_unique<RocksdbPostingsTier>(std::move(database), std::move(partition));
}

neptune::StatusOr<std::unique_ptr<TierBuilder>> CreateRocksdbPostingsBuilder(
    const TierBuilderOptions& options) {
  return CreateEngineBuilder(kDriver, options);
}

neptune::Status FinishRocksdbPostingsCollection(const std::vector<std::string>& directories,
                                                const TierCollectionOptions& options) {
  return FinishEngineCollection(kDriver, directories, options);
}

}  // namespace search::index
