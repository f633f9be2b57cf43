#include "index/tier/segment/segment_tier.h"

#include <utility>

#include "index/core/builder/index_builder.h"
#include "index/core/search/collection_statistics.h"
#include "index/core/search/global_statistics.h"
#include "index/core/search/searcher.h"
#include "index/core/segment/segment_reader.h"
#include "index/tier/operators.h"
#include "index/tier/search_input.h"

namespace search::index {
namespace {

class SegmentTier : public IndexTier {
 public:
  SegmentTier(std::unique_ptr<Segment> segment, std::unique_ptr<CollectionStatistics> statistics,
              std::unique_ptr<Searcher> searcher, uint64_t index_version)
      : segment_(std::move(segment)),
        statistics_(std::move(statistics)),
        searcher_(std::move(searcher)),
        index_version_(index_version) {}

  neptune::StatusOr<TierAnswer> Search(const TierQuery& question,
                                       const TierSearchControl& control) const override {
    NEPTUNE_RETURN_IF_ERROR(ValidateTierQuery(question));
    NEPTUNE_ASSIGN_OR_RETURN(const Query query, ReadTierQuery(question));
    SearchOptions options;
    options.k = question.hit_count_max();
    options.count_exactly = question.count_exactly();
    options.stop = StopFunction(control);
    NEPTUNE_ASSIGN_OR_RETURN(const SearchResult result, searcher_->Search(query, options));
    return ToAnswer(result);
  }

  TierInfo Info() const override {
    return {kSegmentTierName, index_version_, segment_->document_count()};
  }

 private:
  TierAnswer ToAnswer(const SearchResult& result) const {
    TierAnswer answer;
    for (const Hit& hit : result.hits) {
      TierHit* const added = answer.add_hits();
      added->set_doc_id(hit.doc_id);
      added->set_score(hit.score);
    }
    answer.set_total(result.total);
    answer.set_total_is_exact(result.total_is_exact);
    answer.set_evaluated_completely(result.complete);
    answer.set_implementation(kSegmentTierName);
    answer.set_index_version(index_version_);
    return answer;
  }

  const std::unique_ptr<Segment> segment_;
  const std::unique_ptr<CollectionStatistics> statistics_;
  const std::unique_ptr<Searcher> searcher_;
  const uint64_t index_version_;
};

class SegmentTierBuilder : public TierBuilder {
 public:
  explicit SegmentTierBuilder(std::unique_ptr<IndexBuilder> builder)
      : builder_(std::move(builder)) {}

  neptune::Status Add(const IndexedDocument& document) override { return builder_->Add(document); }
  neptune::Status Finish() override { return builder_->Finish().status(); }

 private:
  const std::unique_ptr<IndexBuilder> builder_;
};

}  // namespace

neptune::StatusOr<std::unique_ptr<IndexTier>> OpenSegmentTier(const std::string& directory,
                                                              uint64_t index_version) {
  NEPTUNE_ASSIGN_OR_RETURN(auto segment, Segment::Open(directory));
  NEPTUNE_ASSIGN_OR_RETURN(auto statistics,
                           CollectionStatistics::Open(directory, *segment, OpenOptions()));
  NEPTUNE_ASSIGN_OR_RETURN(auto searcher,
                           Searcher::Create(*segment, *statistics, statistics->ranking()));
  return std::make_unique<SegmentTier>(std::move(segment), std::move(statistics),
                                       std::move(searcher), index_version);
}

neptune::StatusOr<std::unique_ptr<TierBuilder>> CreateSegmentTierBuilder(
    const TierBuilderOptions& options) {
  IndexBuilderOptions builder_options;
  builder_options.directory = options.directory;
  builder_options.memory_size_max = options.memory_size_max;
  NEPTUNE_ASSIGN_OR_RETURN(auto builder, IndexBuilder::Create(std::move(builder_options)));
  return std::make_unique<SegmentTierBuilder>(std::move(builder));
}

neptune::Status FinishSegmentCollection(const std::vector<std::string>& directories,
                                        const TierCollectionOptions& options) {
  GlobalStatisticsOptions statistics_options;
  statistics_options.ranking = options.ranking;
  statistics_options.thread_count = options.thread_count;
  return ComputeGlobalStatistics(directories, statistics_options);
}

}  // namespace search::index
