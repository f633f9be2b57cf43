#include "index/tier/segment/segment_tier.h"

#include <utility>

#include "index/core/builder/index_builder.h"
#include "index/core/search/collection_statistics.h"
#include "index/core/search/global_statistics.h"
#include "index/core/search/searcher.h"
#include "index/core/segment/segment_reader.h"
#include "index/core/suggest/phrase_counter.h"
#include "index/core/suggest/spelling.h"
#include "index/core/suggest/suggestion_index.h"
#include "index/core/suggest/suggestion_writer.h"
#include "index/tier/operators.h"
#include "index/tier/search_input.h"
#include "index/tier/suggest_messages.h"
#include "index/tier/suggest_operators.h"

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

  neptune::StatusOr<TierAnswer> Search(const TierQuery& question,
                                       const TierSearchControl& control) const override {
    NEPTUNE_RETURN_IF_ERROR(ValidateTierQuery(question));
    NEPTUNE_ASSIGN_OR_RETURN(const Query query, ReadTierQuery(question));
    SearchOptions options;
    options.k = question.hit_count_max();
    options.count_exactly = question.count_exactly();
    options.stop = StopFunction(control);
    options.second_phase_count = question.second_phase_count();
    NEPTUNE_ASSIGN_OR_RETURN(const SearchResult result, searcher_->Search(query, options));
    return ToAnswer(result);
  }

  TierInfo Info() const override {
    return {kSegmentTierName, index_version_, segment_->document_count()};
  }

  neptune::StatusOr<SuggestAnswer> Suggest(const SuggestQuery& query) const override {
    if (suggestions_ == nullptr) return IndexTier::Suggest(query);
    SuggestAnswer answer;
    for (int i = 0; i < query.prefixes_size(); ++i) {
      SuggestAnswer more;
      for (const Completion& completion :
           suggestions_->Complete(query.prefixes(i), query.count_max())) {
        *more.add_suggestions() = ToMessage(completion, static_cast<uint32_t>(i));
      }
      answer = MergeSuggestAnswers(answer, more, query.count_max());
      if (answer.suggestions_size() == static_cast<int>(query.count_max())) break;
    }
    answer.set_index_version(index_version_);
    return answer;
  }

  neptune::StatusOr<SpellAnswer> Spell(const SpellQuery& query) const override {
    if (suggestions_ == nullptr) return IndexTier::Spell(query);
    SpellAnswer answer = ToMessage(FindSpellings(*suggestions_, FromMessage(query)));
    answer.set_index_version(index_version_);
    return answer;
  }

 private:
  TierAnswer ToAnswer(const SearchResult& result) const {
    TierAnswer answer;
    for (const Hit& hit : result.hits) {
      TierHit* const added = answer.add_hits();
      added->set_doc_id(hit.doc_id);
      added->set_score(hit.score);
      if (hit.gain > 0) added->set_gain(hit.gain);
    }
    answer.set_second_phase_count(static_cast<uint32_t>(result.second_phase_count));
    answer.set_second_phase_lacks_positions(result.second_phase_lacks_positions);
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
  const std::unique_ptr<SuggestionIndex> suggestions_;  // null: the index was built without
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

// Nothing where the index was made without them.
neptune::StatusOr<std::unique_ptr<SuggestionIndex>> OpenSuggestions(const std::string& directory) {
  auto suggestions = SuggestionIndex::Open(directory);
  if (suggestions.status().code() == neptune::StatusCode::kNotFound) return nullptr;
  return suggestions;
}

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
  // Segments that were imported have no texts to suggest from.
  return suggestions.code() == neptune::StatusCode::kNotFound ? neptune::OkStatus() : suggestions;
}

}  // namespace search::index
