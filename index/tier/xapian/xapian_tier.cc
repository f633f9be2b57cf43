#include "index/tier/xapian/xapian_tier.h"

#include <xapian.h>

#include "index/tier/engine_kit/query_translation.h"
#include "index/tier/engine_kit/stop_check.h"

namespace search::index {
namespace {

using neptune::Status;

std::string AnyTerm(std::string_view term) { return "W" + std::string(term); }
std::string TermIn(auto field, std::string_view term) {
  return "TBE"[static_cast<size_t>(field)] + std::string(term);
}

// Translates query operators to Xapian's.
struct Operators {
  using Set = Xapian::Query;
  static Set Word(const std::string& term) { return Set(AnyTerm(term)); }
  static Set WordIn(Field field, const std::string& term) { return Set(TermIn(field, term)); }
  static Set PhraseIn(Field field, std::vector<std::string> terms) {
    for (std::string& term : terms) term = TermIn(field, term);
    return Set(Set::OP_PHRASE, terms.begin(), terms.end(), terms.size());
  }
  static Set And(const Set& a, const Set& b) { return a & b; }
  static Set Or(const Set& a, const Set& b) { return a | b; }
  static Set AndNot(const Set& a, const Set& b) { return Set(Set::OP_AND_NOT, a, b); }
};

// Iterates over every document with our score as its weight; ends early if the search must stop.
class ScoreSource : public Xapian::FixedWeightPostingSource {
 public:
  ScoreSource(const QueryScore& score, const Xapian::Database& database, StopCheck* stop)
      : FixedWeightPostingSource(score.units_max()), score_(score), stop_(stop) {
    for (const ScoringWord& word : score_.words()) {
      for (size_t field = 0; field < kFieldCount; ++field) {
        places_.push_back(database.postlist_begin(TermIn(field, word.term)));
      }
    }
  }

 private:
  ScoreSource* clone() const override { return nullptr; }  // Xapian then uses this object
  bool at_end() const override { return stop_->Stops() || FixedWeightPostingSource::at_end(); }
  double get_weight() const override {
    const Xapian::docid document = get_docid();
    return score_.Of(document - 1, [&](size_t word, size_t field) -> uint32_t {
      Xapian::PostingIterator& at = places_[word * kFieldCount + field];
      at.skip_to(document);
      return at != Xapian::PostingIterator() && *at == document ? at.get_wdf() : 0;
    });
  }

  const QueryScore& score_;
  StopCheck* const stop_;
  mutable std::vector<Xapian::PostingIterator> places_;  // by word, by field
};

class XapianEngine : public Engine {
 public:
  XapianEngine(const TierBuilderOptions& options, EngineMode mode) {
    const int flags =
        mode == EngineMode::kCreate ? Xapian::DB_CREATE_OR_OVERWRITE : Xapian::DB_OPEN;
    if (mode != EngineMode::kRead) written_ = Xapian::WritableDatabase(options.directory, flags);
    database_ = mode == EngineMode::kRead ? Xapian::Database(options.directory) : written_;
  }

  Status Write(const TermVectorBuilder& document) override {
    Xapian::Document added;
    for (const auto& [term, positions] : document.terms()) {
      added.add_boolean_term(AnyTerm(term));
      for (size_t field = 0; field < kFieldCount; ++field) {
        for (const uint32_t at : positions[field]) added.add_posting(TermIn(field, term), at + 1);
      }
    }
    written_.add_document(added);
    return neptune::OkStatus();
  }
  Status Put(const std::string& key, std::string_view value) override {
    written_.set_metadata(key, std::string(value));
    return neptune::OkStatus();
  }
  neptune::StatusOr<std::string> Get(const std::string& key) const override {
    return database_.get_metadata(key);
  }
  Status ForEachTerm(const VisitTerm& visit) const override {
    for (auto at = database_.allterms_begin("W"); at != database_.allterms_end("W"); ++at) {
      NEPTUNE_RETURN_IF_ERROR(visit((*at).substr(1), at.get_termfreq()));
    }
    return neptune::OkStatus();
  }
  Status Flush() override { return written_.commit(), neptune::OkStatus(); }

  neptune::StatusOr<Found> Find(const EngineQuery& asked) override {
    StopCheck stop(asked.stop);
    ScoreSource score(asked.score, database_, &stop);
    Xapian::Enquire enquire(database_);
    enquire.set_query(Xapian::Query(Xapian::Query::OP_FILTER, Xapian::Query(&score),
                                    TranslateQuery<Operators>(asked.query.root)));
    const Xapian::doccount counted = asked.count_exactly ? database_.get_doccount() + 1 : 0;
    const Xapian::MSet best = enquire.get_mset(0, asked.match_count_max, counted);
    Found found = {
        {}, best.get_matches_lower_bound(), best.get_matches_upper_bound(), !stop.stopped()};
    for (auto at = best.begin(); at != best.end(); ++at) {
      found.matches.push_back({static_cast<ScoreUnits>(at.get_weight()), *at - 1});
    }
    return found;
  }
  Status ReadPositions(const std::string& term, Field field, uint32_t ordinal,
                       std::vector<uint32_t>* positions) override {
    const std::string name = TermIn(field, term);
    auto at = database_.positionlist_begin(ordinal + 1, name);
    for (; at != database_.positionlist_end(ordinal + 1, name); ++at) positions->push_back(*at - 1);
    return neptune::OkStatus();
  }

 private:
  Xapian::WritableDatabase written_;  // not open in kRead
  Xapian::Database database_;
};

Status Guard(const std::string& directory, const std::function<Status()>& work) {
  try {
    return work();
  } catch (const Xapian::DatabaseCreateError& error) {
    return neptune::Unavailable("xapian ", directory, ": ", error.get_description());
  } catch (const Xapian::Error& error) {
    return neptune::DataLoss("xapian ", directory, ": ", error.get_description());
  }
}

}  // namespace

constinit const EngineDriver kXapianDriver = {kXapianTierName, &OpenEngine<XapianEngine>, &Guard};

}  // namespace search::index
