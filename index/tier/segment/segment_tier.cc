#include "index/tier/segment/segment_tier.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "index/core/builder/index_builder.h"
#include "index/core/query/scoring_words.h"
#include "index/core/search/collection_statistics.h"
#include "index/core/search/global_statistics.h"
#include "index/core/search/searcher.h"
#include "index/core/search/tier_bounds.h"
#include "index/core/segment/section_check.h"
#include "index/core/segment/segment_reader.h"
#include "index/suggest/phrase_counter.h"
#include "index/suggest/suggestion_writer.h"
#include "index/tier/operators.h"
#include "index/tier/search_input.h"
#include "index/tier/segment/segment_details.h"
#include "index/tier/segment/segment_messages.h"
#include "index/tier/segment/site_naming.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

// Parts that an index may lack; null then.
struct SegmentTierExtras {
  SuggestionFiles suggestions;
  std::unique_ptr<TierBounds> bounds;
};

neptune::StatusOr<std::unique_ptr<TierBounds>> OpenBounds(const std::string& directory,
                                                          const Segment& segment) {
  auto bounds = TierBounds::Open(directory, segment, OpenOptions());
  if (bounds.status().code() == neptune::StatusCode::kNotFound) return nullptr;
  return bounds;
}

class SegmentTier : public IndexTier {
 public:
  SegmentTier(std::unique_ptr<Segment> segment, std::unique_ptr<CollectionStatistics> statistics,
              std::unique_ptr<Searcher> searcher, SegmentTierExtras extras, uint64_t index_version)
      : segment_(std::move(segment)),
        statistics_(std::move(statistics)),
        searcher_(std::move(searcher)),
        suggestions_(std::move(extras.suggestions)),
        bounds_(std::move(extras.bounds)),
        index_version_(index_version) {}

  neptune::StatusOr<TierAnswer> Search(const TierQuery& tier_query,
                                       const TierSearchControl& control) const override {
    NEPTUNE_RETURN_IF_ERROR(ValidateTierQuery(tier_query));
    NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<const Query> parsed, ReadTierQuery(tier_query));
    const Query& query = *parsed;
    NEPTUNE_ASSIGN_OR_RETURN(const SearchResult result,
                             searcher_->Search(query, ToSearchOptions(tier_query, control)));
    TierAnswer answer = ToAnswer(tier_query, result, index_version_);
    NEPTUNE_RETURN_IF_ERROR(AddWordCounts({segment_.get()}, query, &answer));
    if (bounds_ != nullptr) NEPTUNE_RETURN_IF_ERROR(AddBounds(query, &answer));
    if (result.total == 0 && result.complete) {
      NEPTUNE_RETURN_IF_ERROR(NameSites({{segment_.get(), nullptr}}, SiteFilters(query),
                                        StopFunction(control), &answer));
      NEPTUNE_RETURN_IF_ERROR(NameFields({segment_.get()}, query, &answer));
    }
    NEPTUNE_RETURN_IF_ERROR(CheckSound());
    return answer;
  }

  TierInfo Info() const override {
    return {kSegmentTierName, index_version_, segment_->document_count()};
  }

  PartCheck StartCheck() const override {
    return CheckOf({&segment_->file(), statistics_->file(),
                    bounds_ == nullptr ? nullptr : bounds_->file(), suggestions_.SuggestionsFile(),
                    suggestions_.DictionaryFile()});
  }

  neptune::StatusOr<SuggestAnswer> Suggest(const SuggestQuery& query) const override {
    return suggestions_.Suggest(query, index_version_);
  }

  neptune::StatusOr<SpellAnswer> Spell(const SpellQuery& query) const override {
    return suggestions_.Spell(query, index_version_);
  }

  neptune::StatusOr<ExplainAnswer> Explain(const ExplainQuery& query) const override {
    NEPTUNE_ASSIGN_OR_RETURN(
        ExplainAnswer answer,
        ExplainDocuments({{segment_.get(), searcher_.get(), nullptr}}, query, index_version_));
    NEPTUNE_RETURN_IF_ERROR(CheckSound());
    return answer;
  }

  neptune::StatusOr<FacetAnswer> CountSites(const FacetQuery& query,
                                            const TierSearchControl& control) const override {
    NEPTUNE_ASSIGN_OR_RETURN(FacetAnswer answer,
                             index::CountSites({{segment_.get(), searcher_.get(), nullptr}}, query,
                                               control, index_version_));
    NEPTUNE_RETURN_IF_ERROR(CheckSound());
    return answer;
  }

 private:
  // Called before an answer leaves: the files may have changed while it was made.
  neptune::Status CheckSound() const {
    NEPTUNE_RETURN_IF_ERROR(segment_->CheckSound());
    NEPTUNE_RETURN_IF_ERROR(statistics_->CheckSound());
    return bounds_ == nullptr ? neptune::OkStatus() : bounds_->CheckSound();
  }

  neptune::Status AddBounds(const Query& query, TierAnswer* answer) const {
    OtherTierBounds& bounds = *answer->mutable_other_tier();
    const Scorer scorer(statistics_->mean_lengths(), statistics_->ranking());
    bounds.set_static_rank_units(scorer.StaticRankUnits(bounds_->static_rank_max()));
    bounds.set_is_empty(bounds_->document_count() == 0);
    for (const ScoringWord& scoring : ScoringWords(query)) {
      OtherTierWord& word = *bounds.add_words();
      NEPTUNE_ASSIGN_OR_RETURN(const auto entry, segment_->terms().Find(scoring.term));
      if (!entry.has_value()) continue;
      const WordBound& bound = bounds_->words()[entry->ordinal];
      const uint64_t frequency = statistics_->document_frequencies()[entry->ordinal];
      const TermWeight weight(statistics_->document_count(), frequency, scoring.occurrences,
                              scoring.percent);
      word.set_is_known(true);
      word.set_document_count(bound.document_count);
      word.set_units(weight.Units(bound.impact_max));
      // The second phase knows no shares.
      word.set_inverse_document_frequency(
          static_cast<float>(InverseDocumentFrequency(statistics_->document_count(), frequency)));
      word.set_title_share(bound.title_share_max);
    }
    return neptune::OkStatus();
  }

  const std::unique_ptr<Segment> segment_;
  const std::unique_ptr<CollectionStatistics> statistics_;
  const std::unique_ptr<Searcher> searcher_;
  const SuggestionFiles suggestions_;
  const std::unique_ptr<TierBounds> bounds_;  // null: the index has none
  const uint64_t index_version_;
};

class SegmentTierBuilder : public TierBuilder {
 public:
  SegmentTierBuilder(std::string directory, std::unique_ptr<IndexBuilder> builder)
      : directory_(std::move(directory)), builder_(std::move(builder)) {}

  neptune::Status Add(const IndexedDocument& document) override {
    return AddWithHeadings(document, /*headings=*/{});
  }
  neptune::Status AddWithHeadings(const IndexedDocument& document,
                                  std::string_view headings) override {
    NEPTUNE_RETURN_IF_ERROR(builder_->Add(document));
    phrases_.Add(document, headings);
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

// Bounds are only of use with two tiers. Those of an earlier choice of tiers would be believed.
neptune::Status FinishBounds(const std::vector<std::string>& directories, size_t tier1_count) {
  for (const std::string& directory : directories) {
    const std::string path = neptune::StrCat(directory, "/", kTierBoundsFileName);
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) return neptune::Unavailable("cannot remove ", path, ": ", error.message());
  }
  if (tier1_count == 0 || tier1_count >= directories.size()) return neptune::OkStatus();
  const auto tier2 = directories.begin() + static_cast<ptrdiff_t>(tier1_count);
  return WriteTierBounds({directories.begin(), tier2}, {tier2, directories.end()});
}

}  // namespace

neptune::StatusOr<std::unique_ptr<IndexTier>> OpenSegmentTier(const std::string& directory,
                                                              uint64_t index_version) {
  NEPTUNE_ASSIGN_OR_RETURN(auto segment, Segment::Open(directory));
  NEPTUNE_ASSIGN_OR_RETURN(auto statistics,
                           CollectionStatistics::Open(directory, *segment, OpenOptions()));
  NEPTUNE_ASSIGN_OR_RETURN(auto searcher,
                           Searcher::Create(*segment, *statistics, statistics->ranking()));
  SegmentTierExtras extras;
  NEPTUNE_ASSIGN_OR_RETURN(extras.suggestions, SuggestionFiles::Open(directory));
  NEPTUNE_ASSIGN_OR_RETURN(extras.bounds, OpenBounds(directory, *segment));
  return std::make_unique<SegmentTier>(std::move(segment), std::move(statistics),
                                       std::move(searcher), std::move(extras), index_version);
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
  NEPTUNE_RETURN_IF_ERROR(FinishBounds(directories, options.tier1_count));
  const neptune::Status suggestions = FinishSuggestions(
      directories, {.thread_count = options.thread_count, .queries = options.asked_queries});
  // Imported segments have no texts to suggest from.
  return suggestions.code() == neptune::StatusCode::kNotFound ? neptune::OkStatus() : suggestions;
}

}  // namespace search::index
