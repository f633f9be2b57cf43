#include "index/tier/segment/segment_tier.h"

#include <utility>

#include "index/core/builder/index_builder.h"
#include "index/core/search/collection_statistics.h"
#include "index/core/search/global_statistics.h"
#include "index/core/search/searcher.h"
#include "index/core/segment/segment_reader.h"
#include "index/suggest/phrase_counter.h"
#include "index/suggest/suggestion_index.h"
#include "index/suggest/suggestion_writer.h"
#include "index/tier/operators.h"
#include "index/tier/search_input.h"
#include "index/tier/segment/segment_messages.h"

namespace search::index {
namespace {

class SegmentTier : public IndexTier {
 public:
  SegmentTier(std::unique_ptr<Segment> segment, std::unique_ptr<CollectionStatistics> statistics,
              std::unique_ptr<Searcher> searcher, std::unique_ptr<SuggestionIndex> suggestions,
              uint64_t index_version)
      : segment_(std::move(segment)),
        statistics_(std::move(statistics)),
        searcher_(std::move(searcher)),
        suggestions_(std::move(suggestions)),
        index_version_(index_version) {}

  neptune::StatusOr<TierAnswer> Search(const TierQuery& tier_query,
                                       const TierSearchControl& control) const override {
    NEPTUNE_RETURN_IF_ERROR(ValidateTierQuery(tier_query));
    NEPTUNE_ASSIGN_OR_RETURN(const Query query, ReadTierQuery(tier_query));
    NEPTUNE_ASSIGN_OR_RETURN(const SearchResult result,
                             searcher_->Search(query, ToSearchOptions(tier_query, control)));
    return ToAnswer(result, index_version_);
  }

  TierInfo Info() const override {
    return {kSegmentTierName, index_version_, segment_->document_count()};
  }

  neptune::StatusOr<SuggestAnswer> Suggest(const SuggestQuery& query) const override {
    if (suggestions_ == nullptr) return IndexTier::Suggest(query);
    return Complete(*suggestions_, query, index_version_);
  }

  neptune::StatusOr<SpellAnswer> Spell(const SpellQuery& query) const override {
    if (suggestions_ == nullptr) return IndexTier::Spell(query);
    return FindSpellings(*suggestions_, query, index_version_);
  }

 private:
  const std::unique_ptr<Segment> segment_;
  const std::unique_ptr<CollectionStatistics> statistics_;
  const std::unique_ptr<Searcher> searcher_;
  const std::unique_ptr<SuggestionIndex> suggestions_;  // null: the index has none
  const uint64_t index_version_;
};

class SegmentTierBuilder : public TierBuilder {
 public:
  SegmentTierBuilder(std::string directory, std::unique_ptr<IndexBuilder> builder)
      : directory_(std::move(directory)), builder_(std::move(builder)) {}

  neptune::Status Add(const IndexedDocument& document) override {
    NEPTUNE_RETURN_IF_ERROR(builder_->Add(document));
    phrases_.Add(document);
    return neptune::OkStatus();
  }
  neptune::Status Finish() override {
    NEPTUNE_RETURN_IF_ERROR(builder_->Finish().status());
    return phrases_.Finish(directory_);
  }

 private:
  const std::string directory_;
  const std::unique_ptr<IndexBuilder> builder_;
  PhraseCounter phrases_;
};

}  // namespace

neptune::StatusOr<std::unique_ptr<IndexTier>> OpenSegmentTier(const std::string& directory,
                                                              uint64_t index_version) {
  NEPTUNE_ASSIGN_OR_RETURN(auto segment, Segment::Open(directory));
  NEPTUNE_ASSIGN_OR_RETURN(auto statistics,
                           CollectionStatistics::Open(directory, *segment, OpenOptions()));
  NEPTUNE_ASSIGN_OR_RETURN(auto searcher,
                           Searcher::Create(*segment, *statistics, statistics->ranking()));
  NEPTUNE_ASSIGN_OR_RETURN(auto suggestions, OpenSuggestions(directory));
  return std::make_unique<SegmentTier>(std::move(segment), std::move(statistics),
                                       std::move(searcher), std::move(suggestions), index_version);
}

neptune::StatusOr<std::unique_ptr<TierBuilder>> CreateSegmentTierBuilder(
    const TierBuilderOptions& options) {
  IndexBuilderOptions builder_options;
  builder_options.directory = options.directory;
  builder_options.memory_size_max = options.memory_size_max;
  NEPTUNE_ASSIGN_OR_RETURN(auto builder, IndexBuilder::Create(std::move(builder_options)));
  return std::make_unique<SegmentTierBuilder>(options.directory, std::move(builder));
}

neptune::Status FinishSegmentCollection(const std::vector<std::string>& directories,
                                        const TierCollectionOptions& options) {
  GlobalStatisticsOptions statistics_options;
  statistics_options.ranking = options.ranking;
  statistics_options.thread_count = options.thread_count;
  NEPTUNE_RETURN_IF_ERROR(ComputeGlobalStatistics(directories, statistics_options));
  const neptune::Status suggestions =
      FinishSuggestions(directories, {.thread_count = options.thread_count});
  // Imported segments have no texts to suggest from.
  return suggestions.code() == neptune::StatusCode::kNotFound ? neptune::OkStatus() : suggestions;
}

}  // namespace search::index
