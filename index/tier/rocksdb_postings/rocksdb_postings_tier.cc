#include "index/tier/rocksdb_postings/rocksdb_postings_tier.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "index/core/search/collection_statistics.h"
#include "index/core/search/score.h"
#include "index/tier/engine_kit/second_phase.h"
#include "index/tier/operators.h"
#include "index/tier/rocksdb_postings/document_table.h"
#include "index/tier/rocksdb_postings/place_reader.h"
#include "index/tier/rocksdb_postings/posting_builder.h"
#include "index/tier/rocksdb_postings/posting_database.h"
#include "index/tier/rocksdb_postings/query_evaluation.h"
#include "index/tier/search_input.h"

namespace search::index {
namespace {

using rocksdb_postings::Evaluated;
using rocksdb_postings::Match;
using rocksdb_postings::PlaceReader;
using rocksdb_postings::PostingDatabase;
using rocksdb_postings::QueryEvaluation;
using rocksdb_postings::QueryPostings;
using rocksdb_postings::SearchSpace;

bool RanksBefore(const Match& a, const Match& b) {
  return a.score != b.score ? a.score > b.score : a.ordinal < b.ordinal;
}

class RocksdbPostingsTier : public IndexTier {
 public:
  RocksdbPostingsTier(std::shared_ptr<const PostingDatabase> database,
                      std::vector<DocumentRecord> documents, const CollectionRecord& collection,
                      uint64_t index_version)
      : database_(std::move(database)),
        documents_(std::move(documents)),
        scorer_(MeanLengths(collection.document_count, collection.length_sums),
                RankingOf(collection)),
        collection_document_count_(collection.document_count),
        index_version_(index_version) {}

  neptune::StatusOr<TierAnswer> Search(const TierQuery& question,
                                       const TierSearchControl& control) const override {
    NEPTUNE_RETURN_IF_ERROR(ValidateTierQuery(question));
    NEPTUNE_ASSIGN_OR_RETURN(const Query query, ReadTierQuery(question));
    NEPTUNE_ASSIGN_OR_RETURN(const QueryPostings postings, ReadPostings(query, control));
    const SearchSpace space = {postings, documents_, scorer_, collection_document_count_};
    const std::function<bool()> stop = StopFunction(control);
    NEPTUNE_ASSIGN_OR_RETURN(Evaluated evaluated, QueryEvaluation(query, space).Run(stop));
    TierAnswer answer = ToAnswer(question, &evaluated);
    if (question.second_phase_count() == 0 || !evaluated.is_complete) return answer;
    std::vector<uint32_t> ordinals;
    for (int i = 0; i < answer.hits_size(); ++i) ordinals.push_back(evaluated.matches[i].ordinal);
    PlaceReader reader(postings);
    NEPTUNE_RETURN_IF_ERROR(
        RunSecondPhase(question, query, RatingSpaceOf(&reader), ordinals, stop, &answer));
    return answer;
  }

  TierInfo Info() const override {
    return {kRocksdbPostingsTierName, index_version_, documents_.size(), true};
  }

 private:
  neptune::StatusOr<QueryPostings> ReadPostings(const Query& query,
                                                const TierSearchControl& control) const {
    // Owned by what is run: it may outlive the search, if not the tier's database.
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

  // Leaves the best matches at the front, those of the answer's hits.
  TierAnswer ToAnswer(const TierQuery& question, Evaluated* evaluated) const {
    std::vector<Match>& matches = evaluated->matches;
    const size_t hit_count = std::min<size_t>(
        matches.size(), std::max(question.hit_count_max(), question.second_phase_count()));
    std::partial_sort(matches.begin(), matches.begin() + static_cast<ptrdiff_t>(hit_count),
                      matches.end(), RanksBefore);
    TierAnswer answer;
    for (size_t i = 0; i < hit_count; ++i) {
      TierHit* const hit = answer.add_hits();
      hit->set_doc_id(documents_[matches[i].ordinal].doc_id);
      hit->set_score(matches[i].score);
    }
    answer.set_total(matches.size());
    answer.set_total_is_exact(evaluated->is_complete);
    answer.set_evaluated_completely(evaluated->is_complete);
    answer.set_implementation(kRocksdbPostingsTierName);
    answer.set_index_version(index_version_);
    return answer;
  }

  RatingSpace RatingSpaceOf(PlaceReader* reader) const {
    return {scorer_, collection_document_count_,
            [this](uint32_t ordinal) { return documents_[ordinal].length_codes; },
            [reader](const ScoringWord& word) { return reader->DocumentFrequency(word); },
            [reader](const ScoringWord& word, uint32_t ordinal, WordPlaces* places) {
              return reader->Read(word, ordinal, places);
            }};
  }

  const std::shared_ptr<const PostingDatabase> database_;
  const std::vector<DocumentRecord> documents_;
  const Scorer scorer_;
  const uint64_t collection_document_count_;
  const uint64_t index_version_;
};

}  // namespace

neptune::StatusOr<std::unique_ptr<IndexTier>> OpenRocksdbPostingsTier(const std::string& directory,
                                                                      uint64_t index_version) {
  NEPTUNE_ASSIGN_OR_RETURN(auto database,
                           PostingDatabase::Open(directory, PostingDatabase::Mode::kReadOnly));
  NEPTUNE_ASSIGN_OR_RETURN(const CollectionRecord collection,
                           rocksdb_postings::ReadCollection(*database));
  NEPTUNE_ASSIGN_OR_RETURN(auto documents, rocksdb_postings::ReadDocuments(*database));
  return std::make_unique<RocksdbPostingsTier>(std::move(database), std::move(documents),
                                               collection, index_version);
}

neptune::StatusOr<std::unique_ptr<TierBuilder>> CreateRocksdbPostingsBuilder(
    const TierBuilderOptions& options) {
  return rocksdb_postings::PostingBuilder::Create(options);
}

neptune::Status FinishRocksdbPostingsCollection(const std::vector<std::string>& directories,
                                                const TierCollectionOptions& options) {
  return rocksdb_postings::FinishPartitions(directories, options.ranking);
}

}  // namespace search::index
