#include "index/tier/xapian/xapian_tier.h"

#include <xapian.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "index/core/search/collection_statistics.h"
#include "index/core/search/score.h"
#include "index/core/segment/segment_reader.h"
#include "index/tier/engine_kit/collection_sums.h"
#include "index/tier/engine_kit/engine_builder.h"
#include "index/tier/engine_kit/second_phase.h"
#include "index/tier/search_input.h"
#include "neptune/base/leaf_mutex.h"

namespace search::index {
namespace {

using neptune::Status;
using neptune::StatusOr;
using Stop = std::function<bool()>;

constexpr char kPartitionKey[] = "partition";
constexpr char kCollectionKey[] = "collection";
std::string AnyTerm(std::string_view term) { return "W" + std::string(term); }
std::string FieldTerm(size_t field, std::string_view term) {
  return "TBE"[field] + std::string(term);
}

// What `work` returns, or its exception as a status.
template <typename Work>
auto Guarded(const std::string& directory, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Xapian::DatabaseCreateError& error) {
    return neptune::Unavailable("xapian ", directory, ": ", error.get_description());
  } catch (const Xapian::Error& error) {
    return neptune::DataLoss("xapian ", directory, ": ", error.get_description());
  }
}

// Throws for a record that is not there.
template <typename Record>
Record Metadata(const Xapian::Database& database, const std::string& key) {
  if (const auto record = ReadRecord<Record>(database.get_metadata(key))) return *record;
  throw Xapian::DatabaseCorruptError("no record " + key);
}

class XapianBuilder : public EngineBuilder {
 public:
  explicit XapianBuilder(const TierBuilderOptions& options) : options_(options) {
    std::error_code error;  // Xapian says it better
    std::filesystem::create_directories(options.directory, error);
    database_ = Xapian::WritableDatabase(options.directory,
                                         Xapian::DB_CREATE_OR_OVERWRITE | Xapian::DB_BACKEND_GLASS);
  }

 private:
  static constexpr size_t kPostingSize = 64;  // in memory, of a posting or position not yet written

  Status Write(const DocumentInverter& document) override {
    Xapian::Document added;
    added.add_value(0, std::string(RecordBytes(document.record())));
    for (const auto& [term, positions] : document.terms()) {
      added.add_boolean_term(AnyTerm(term));
      for (size_t field = 0; field < kFieldCount; ++field) {
        for (const uint32_t at : positions[field])
          added.add_posting(FieldTerm(field, term), at + 1);
        pending_size_ += kPostingSize * (1 + positions[field].size());
      }
    }
    return Guarded(options_.directory, [&] {
      database_.add_document(added);
      if (pending_size_ < options_.memory_size_max) return neptune::OkStatus();
      pending_size_ = 0;
      database_.commit();
      return neptune::OkStatus();
    });
  }
  Status Close(const PartitionRecord& partition) override {
    return Guarded(options_.directory, [&] {
      database_.set_metadata(kPartitionKey, std::string(RecordBytes(partition)));
      database_.close();  // which commits
      return neptune::OkStatus();
    });
  }

  const TierBuilderOptions options_;
  Xapian::WritableDatabase database_;
  size_t pending_size_ = 0;
};

// The documents that match; weights are the Score's.
Xapian::Query Matching(const QueryNode& node) {
  using Xapian::Query;
  const bool is_title = node.field == QueryField::kTitle;
  Query result;  // matches nothing
  if (node.kind == QueryNode::Kind::kTerm) {
    return Query(is_title ? FieldTerm(0, node.term) : AnyTerm(node.term));
  }
  if (node.kind == QueryNode::Kind::kSite) return Query(AnyTerm(Segment::SiteKey(node.term)));
  for (size_t field = 0; !node.phrase.empty() && field < (is_title ? 1 : kFieldCount); ++field) {
    std::vector<std::string> terms;
    for (const PhraseTerm& term : node.phrase) terms.push_back(FieldTerm(field, term.term));
    result |= Query(Query::OP_PHRASE, terms.begin(), terms.end(), terms.size());
  }
  for (const QueryNode& child : node.children) {
    const bool is_not = child.kind == QueryNode::Kind::kNot;
    const bool is_first = &child == &node.children[0] || node.kind != QueryNode::Kind::kAnd;
    result = is_first ? result | Matching(child)
             : is_not ? Query(Query::OP_AND_NOT, result, Matching(child))
                      : result & Matching(child);
  }
  return result;
}

DocumentRecord RecordOf(const Xapian::Database& database, Xapian::docid document) {
  const auto record = ReadRecord<DocumentRecord>(database.get_document(document).get_value(0));
  return record ? *record : throw Xapian::DatabaseCorruptError("a document without a record");
}

// What a word adds to scores, as Xapian's iterators meet its documents.
struct ScoredWord {
  ScoringWord word;
  TermWeight weight;
  std::array<Xapian::PostingIterator, kFieldCount> fields;

  ScoreUnits Units(Xapian::docid document, uint32_t length_codes, const Scorer& scorer) {
    std::array<uint32_t, kFieldCount> frequencies = {};
    for (size_t field = 0; field < (word.title_only ? 1 : kFieldCount); ++field) {
      Xapian::PostingIterator& at = fields[field];
      at.skip_to(document);
      const bool is_there = at != Xapian::PostingIterator() && *at == document;
      frequencies[field] = is_there ? at.get_wdf() : 0;
    }
    return weight.Units(scorer.ToImpact(frequencies, length_codes));
  }
};

// Our score of every document. When the search is to stop there are no more documents.
class ScoreSource : public Xapian::ValuePostingSource {
 public:
  ScoreSource(const Scorer& scorer, std::vector<ScoredWord> words, const Stop& stop)
      : ValuePostingSource(0), scorer_(scorer), words_(std::move(words)), stop_(stop) {}
  bool stopped() const { return stopped_; }

  void init(const Xapian::Database& database) override {
    ValuePostingSource::init(database);
    double most = scorer_.StaticRankUnits(1);
    for (ScoredWord& word : words_) {
      most += word.weight.Units(kImpactMax);
      for (size_t i = 0; i < kFieldCount; ++i) {
        word.fields[i] = database.postlist_begin(FieldTerm(i, word.word.term));
      }
    }
    set_maxweight(most);
  }
  void next(double least) override {
    if (GoesOn()) ValuePostingSource::next(least);
  }
  void skip_to(Xapian::docid document, double least) override {
    if (GoesOn()) ValuePostingSource::skip_to(document, least);
  }
  bool check(Xapian::docid document, double least) override {
    return !GoesOn() || ValuePostingSource::check(document, least);
  }
  double get_weight() const override {
    const DocumentRecord record =
        ReadRecord<DocumentRecord>(get_value()).value_or(DocumentRecord());
    ScoreUnits units = scorer_.StaticRankUnits(record.static_rank);
    for (ScoredWord& word : words_) units += word.Units(get_docid(), record.length_codes, scorer_);
    return units;
  }

 private:
  static constexpr uint32_t kStopInterval = 64;

  bool GoesOn() {
    if (!stop_ || stopped_ || move_count_++ % kStopInterval != 0 || !stop_()) return !stopped_;
    stopped_ = true;
    done();
    return false;
  }

  const Scorer& scorer_;
  mutable std::vector<ScoredWord> words_;
  const Stop& stop_;
  uint32_t move_count_ = 0;
  bool stopped_ = false;
};

// What searches share, those that nobody waits for any more too.
struct Partition {
  const std::string directory;
  const uint64_t index_version;
  const CollectionRecord collection;
  const Scorer scorer;
  const Xapian::doccount size;
  neptune::LeafMutex mutex;
  std::vector<Xapian::Database> idle ABSL_GUARDED_BY(mutex);  // each serves one search at a time

  Xapian::Database TakeHandle() {
    neptune::LeafLock lock(&mutex);
    if (idle.empty()) return Xapian::Database(directory);
    Xapian::Database handle = std::move(idle.back());
    idle.pop_back();
    return handle;
  }
  void GiveBack(Xapian::Database&& handle) {
    neptune::LeafLock lock(&mutex);
    idle.push_back(std::move(handle));
  }
};

StatusOr<TierAnswer> Evaluate(const Partition& partition, const Xapian::Database& database,
                              const TierQuery& question, const Query& query, const Stop& stop) {
  const auto frequency = [&](const ScoringWord& word) -> uint64_t {
    return ReadRecord<uint32_t>(database.get_metadata(AnyTerm(word.term))).value_or(0);
  };
  const uint64_t collection_size = partition.collection.document_count;
  std::vector<ScoredWord> words;
  for (const ScoringWord& word : ScoringWords(query)) {
    words.push_back({word, {collection_size, frequency(word), word.occurrences}, {}});
  }
  ScoreSource score(partition.scorer, std::move(words), stop);
  Xapian::Enquire enquire(database);
  enquire.set_query(
      Xapian::Query(Xapian::Query::OP_FILTER, Xapian::Query(&score), Matching(query.root)));
  const uint32_t count = std::max(question.hit_count_max(), question.second_phase_count());
  const Xapian::MSet found =
      enquire.get_mset(0, count, question.count_exactly() ? partition.size + 1 : count);

  TierAnswer answer;
  std::vector<uint32_t> ordinals;
  for (auto at = found.begin(); at != found.end(); ++at) {
    ordinals.push_back(*at - 1);
    answer.add_hits()->set_doc_id(RecordOf(database, *at).doc_id);
    answer.mutable_hits()->rbegin()->set_score(ToScore(static_cast<ScoreUnits>(at.get_weight())));
  }
  const Xapian::doccount least = found.get_matches_lower_bound();
  answer.set_total(score.stopped() ? found.size() : least);
  answer.set_total_is_exact(!score.stopped() && least == found.get_matches_upper_bound());
  answer.set_evaluated_completely(!score.stopped());
  answer.set_implementation(kXapianTierName);
  answer.set_index_version(partition.index_version);
  if (question.second_phase_count() == 0 || score.stopped()) return answer;

  const auto codes = [&](uint32_t ordinal) { return RecordOf(database, ordinal + 1).length_codes; };
  const auto read_places = [&](const ScoringWord& word, uint32_t ordinal, WordPlaces* places) {
    for (size_t i = 0; i < (word.title_only ? 1 : kFieldCount); ++i) {
      const std::string term = FieldTerm(i, word.term);
      for (auto at = database.positionlist_begin(ordinal + 1, term);
           at != database.positionlist_end(ordinal + 1, term); ++at, ++places->frequencies[i]) {
        places->positions[i].push_back(*at - 1);
      }
    }
    return neptune::OkStatus();
  };
  const RatingSpace space = {partition.scorer, collection_size, codes, frequency, read_places};
  NEPTUNE_RETURN_IF_ERROR(RunSecondPhase(question, query, space, ordinals, stop, &answer));
  return answer;
}

class XapianTier : public IndexTier {
 public:
  explicit XapianTier(std::shared_ptr<Partition> partition) : partition_(std::move(partition)) {}

  StatusOr<TierAnswer> Search(const TierQuery& question,
                              const TierSearchControl& control) const override {
    return SearchWithinRead(question, control, [partition = partition_](const auto&... asked) {
      return Guarded(partition->directory, [&] {
        Xapian::Database database = partition->TakeHandle();
        auto answer = Evaluate(*partition, database, asked...);
        partition->GiveBack(std::move(database));
        return answer;
      });
    });
  }
  TierInfo Info() const override {
    return {kXapianTierName, partition_->index_version, partition_->size, true};
  }

 private:
  const std::shared_ptr<Partition> partition_;
};

Status AddPartition(const std::string& directory, CollectionSums* sums) {
  const Xapian::Database database(directory);
  sums->AddPartition(Metadata<PartitionRecord>(database, kPartitionKey));
  for (auto at = database.valuestream_begin(0); at != database.valuestream_end(0); ++at) {
    sums->AddDocument(RecordOf(database, at.get_docid()).doc_id);
  }
  for (auto at = database.allterms_begin("W"); at != database.allterms_end("W"); ++at) {
    sums->AddTerm(*at, at.get_termfreq());
  }
  return neptune::OkStatus();
}

Status WriteStatistics(const std::string& directory, const CollectionRecord& collection,
                       const CollectionSums& sums) {
  Xapian::WritableDatabase database(directory, Xapian::DB_OPEN);
  for (auto at = database.allterms_begin("W"); at != database.allterms_end("W"); ++at) {
    const uint32_t frequency = sums.FrequencyOf(*at);
    database.set_metadata(*at, std::string(RecordBytes(frequency)));
  }
  database.set_metadata(kCollectionKey, std::string(RecordBytes(collection)));
  database.close();
  return neptune::OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<IndexTier>> OpenXapianTier(const std::string& directory,
                                                    uint64_t index_version) {
  using Opened = StatusOr<std::unique_ptr<IndexTier>>;
  return Guarded(directory, [&]() -> Opened {
    Xapian::Database database(directory);
    const auto collection = Metadata<CollectionRecord>(database, kCollectionKey);
    const Scorer scorer(MeanLengths(collection.document_count, collection.length_sums),
                        RankingOf(collection));
    return std::make_unique<XapianTier>(std::shared_ptr<Partition>(new Partition{
        directory, index_version, collection, scorer, database.get_doccount(), {}, {}}));
  });
}

StatusOr<std::unique_ptr<TierBuilder>> CreateXapianBuilder(const TierBuilderOptions& options) {
  using Created = StatusOr<std::unique_ptr<TierBuilder>>;
  return Guarded(options.directory,
                 [&]() -> Created { return std::make_unique<XapianBuilder>(options); });
}

Status FinishXapianCollection(const std::vector<std::string>& directories,
                              const TierCollectionOptions& options) {
  CollectionSums sums;
  for (const std::string& directory : directories) {
    NEPTUNE_RETURN_IF_ERROR(Guarded(directory, [&] { return AddPartition(directory, &sums); }));
  }
  NEPTUNE_ASSIGN_OR_RETURN(const CollectionRecord collection, sums.Finish(options.ranking));
  for (const std::string& directory : directories) {
    NEPTUNE_RETURN_IF_ERROR(
        Guarded(directory, [&] { return WriteStatistics(directory, collection, sums); }));
  }
  return neptune::OkStatus();
}

}  // namespace search::index
