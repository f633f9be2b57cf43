#include "frontend/testing/fake_services.h"

#include <map>
#include <utility>
#include <vector>

#include "cache/cache.pb.h"
#include "cache/cache_service.h"
#include "docserver/docserver.pb.h"
#include "docserver/document_service.h"
#include "index/core/query/query.h"
#include "index/core/query/scoring_words.h"
#include "index/tier/detail_reduce.h"
#include "index/tier/explain.pb.h"
#include "index/tier/facet.pb.h"
#include "index/tier/operators.h"
#include "index/tier/suggest.pb.h"
#include "index/tier/suggest_reduce.h"
#include "index/tier/tier.pb.h"
#include "index/tier/tier_reduce.h"
#include "index/tier/tier_service.h"
#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using neptune::Data;
using neptune::MethodName;
using neptune::ModuleContext;
using neptune::RequestContext;
using neptune::ServiceModule;
using neptune::Status;
using neptune::StrCat;

// Document numbers of the partitions interleave, as in a real index.
constexpr uint64_t kPartitionStride = 16;

// Works as an evaluation does: some of it, a stop check, and so on. False: it had to stop.
bool WorkUntilStopped(RequestContext& context) {
  for (neptune::Duration done{0}; done < kHeavyWork; done += kHeavyStretch) {
    if (context.ShouldStop()) return false;
    neptune::this_thread::Consume(context.world().processors(), kHeavyStretch);
  }
  return true;
}

int HitCount(const std::string& query, bool is_tier2) {
  const bool is_common = query.find("common") != std::string::npos;
  const bool is_rare = query.find("rare") != std::string::npos;
  const bool is_nowhere = query.find("nowher") != std::string::npos ||  // as a stem
                          query.find(" apart\"") != std::string::npos;
  if ((!is_common && !is_rare) || is_nowhere) return 0;
  if (is_tier2) return kTier2HitCount;
  return is_common ? kCommonHitCount : 1;
}

bool IsCommon(const std::string& query) { return query.find("common") != std::string::npos; }

float BestScore(const std::string& query, bool is_tier2) {
  if (!is_tier2) return 50;
  return IsCommon(query) ? 20 : 100;
}

constexpr uint32_t kTier2Partitions = 2;

// Number of documents with the word in a partition.
uint32_t DocumentsWith(const std::string& term) {
  const bool is_unknown =
      term.find("comon") != std::string::npos || term == "slow" || term.starts_with("unoffer");
  return is_unknown ? 0 : term == "seldom" ? 1 : 100;
}

// What tier 1 knows of tier 2; the first word has all of the score.
void AddBounds(const std::string& query, index::TierAnswer* answer) {
  if (query.find("unbound") != std::string::npos) return;
  const auto parsed = index::ParseQuery(query, index::ParseLimits::ForCanonical());
  if (!parsed.ok()) return;
  const std::vector<index::ScoringWord> words = index::ScoringWords(*parsed);
  for (size_t i = 0; i < words.size(); ++i) {
    index::OtherTierWord& word = *answer->mutable_other_tier()->add_words();
    word.set_is_known(true);
    const int hit_count = DocumentsWith(words[i].term) == 0 ? 0 : HitCount(query, true);
    word.set_document_count(static_cast<uint32_t>(hit_count) * kTier2Partitions);
    // A word of which tier 2 has documents, none of them on the site.
    if (query.find("elsewhere") != std::string::npos) word.set_document_count(1);
    if (i == 0) word.set_units(static_cast<uint32_t>(BestScore(query, true) * 65536));
  }
}

void AddWordCounts(const std::string& query, index::TierAnswer* answer) {
  const auto parsed = index::ParseQuery(query, index::ParseLimits::ForCanonical());
  if (!parsed.ok()) return;
  for (const index::ScoringWord& word : index::ScoringWords(*parsed)) {
    answer->add_word_document_counts(DocumentsWith(word.term));
  }
}

class FakeTier final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override {
    is_tier2_ = context.service.value() == index::kTier2Service;
    context.registrar.Method(MethodName(index::kTierSearchMethod), {.grain = neptune::Grain::kLong},
                             [this](RequestContext& request, const Data& in, Data* out) {
                               return Search(request, in, out);
                             });
    context.registrar.Method(MethodName(index::kTierSuggestMethod), {}, Suggest);
    context.registrar.Method(MethodName(index::kTierSpellMethod), {}, Spell);
    context.registrar.Method(
        MethodName(index::kTierCountMethod), {.grain = neptune::Grain::kLong},
        [this](RequestContext&, const Data& in, Data* out) { return Count(in, out); });
    context.registrar.Method(MethodName(index::kTierExplainMethod),
                             {.grain = neptune::Grain::kLong},
                             [this](RequestContext& request, const Data& in, Data* out) {
                               return Explain(request, in, out);
                             });
    context.registrar.Method(MethodName(index::kTierFacetMethod), {.grain = neptune::Grain::kLong},
                             [this](RequestContext& request, const Data& in, Data* out) {
                               return CountSites(request, in, out);
                             });
    index::RegisterDetailReduceOperators(context.registrar);
    index::RegisterTierReduceOperator(context.registrar);
    index::RegisterSuggestReduceOperators(context.registrar);
    return neptune::OkStatus();
  }
  std::string implementation() const override { return "fake"; }

 private:
  static Status Suggest(RequestContext&, const Data& in, Data* out) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto* const query, in.As<index::SuggestQuery>());
    index::SuggestAnswer answer;
    answer.set_index_version(kFakeIndexVersion);
    for (int i = 0; i < query->prefixes_size(); ++i) {
      if (query->prefixes(i).starts_with("unoffered")) return neptune::Unimplemented("not offered");
      for (const std::string phrase : kFakePhrases) {
        if (!phrase.starts_with(query->prefixes(i))) continue;
        index::Suggestion* const suggestion = answer.add_suggestions();
        suggestion->set_text(phrase);
        suggestion->set_key(phrase);
        suggestion->set_prefix_index(static_cast<uint32_t>(i));
      }
    }
    *out = Data::Of(std::move(answer));
    return neptune::OkStatus();
  }

  static Status Spell(RequestContext&, const Data& in, Data* out) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto* const query, in.As<index::SpellQuery>());
    index::SpellAnswer answer;
    answer.set_collection_document_count(1'000'000);
    for (const index::SpellQueryWord& word : query->words()) {
      index::WordSpellingsMessage* const spellings = answer.add_words();
      if (word.folded() == "unoffered") return neptune::Unimplemented("not offered");
      if (word.folded() == "slow") (void)neptune::this_thread::SleepFor(kSlowSpelling);
      spellings->set_document_count(word.is_known() ? 1 : 0);
      if (!word.may_change()) continue;
      if (word.folded().find("comon") == std::string::npos && word.folded() != "seldom") continue;
      index::OtherWordMessage* const other = spellings->add_others();
      other->set_folded("common");
      other->set_text("common");
      other->set_document_count(400'000);
      other->set_distance(1);
    }
    *out = Data::Of(std::move(answer));
    return neptune::OkStatus();
  }

  Status Count(const Data& in, Data* out) const {
    NEPTUNE_ASSIGN_OR_RETURN(const auto* const query, in.As<index::CountQuery>());
    index::CountAnswer answer;
    for (const std::string& text : query->queries()) {
      index::QueryCount* const count = answer.add_counts();
      count->set_total(static_cast<uint64_t>(HitCount(text, is_tier2_)));
      count->set_is_exact(true);
    }
    *out = Data::Of(std::move(answer));
    return neptune::OkStatus();
  }

  // Explains the scores that Search gives to the documents of this partition.
  Status Explain(RequestContext& context, const Data& in, Data* out) const {
    NEPTUNE_ASSIGN_OR_RETURN(const auto* const query, in.As<index::ExplainQuery>());
    index::ExplainAnswer answer;
    for (const uint64_t doc_id : query->doc_ids()) {
      const uint64_t first = is_tier2_ ? kFirstTier2Document : 0;
      if (doc_id < first || (!is_tier2_ && doc_id >= kFirstTier2Document)) continue;
      if ((doc_id - first) % kPartitionStride != context.partition().value()) continue;
      const auto place = static_cast<float>((doc_id - first) / kPartitionStride);
      index::DocumentExplanation& document = *answer.add_documents();
      document.set_doc_id(doc_id);
      document.set_matches(true);
      document.set_score(BestScore(query->query(), is_tier2_) - place);
      document.set_static_rank_score(1);
      index::WordExplanation& word = *document.add_words();
      word.set_term("common");
      word.set_score(document.score() - 1);
    }
    answer.set_index_version(kFakeIndexVersion);
    *out = Data::Of(std::move(answer));
    return neptune::OkStatus();
  }

  Status CountSites(RequestContext& context, const Data& in, Data* out) const {
    NEPTUNE_ASSIGN_OR_RETURN(const auto* const query, in.As<index::FacetQuery>());
    if (query->query().find("uncount") != std::string::npos) {
      return context.SleepUntil(context.deadline());
    }
    index::FacetAnswer answer;
    const int count = HitCount(query->query(), is_tier2_);
    index::FacetValue& site = *answer.add_values();
    site.set_name(is_tier2_ ? "git-doc" : "git");
    site.set_document_count(static_cast<uint64_t>(count));
    answer.set_total(static_cast<uint64_t>(count));
    answer.set_is_complete(true);
    answer.set_index_version(kFakeIndexVersion);
    *out = Data::Of(std::move(answer));
    return neptune::OkStatus();
  }

  Status Search(RequestContext& context, const Data& in, Data* out) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto* const query, in.As<index::TierQuery>());
    if (query->query().find("overload") != std::string::npos) {
      return neptune::ResourceExhausted("overload requested by the query");
    }
    if (query->query().find("forbid") != std::string::npos) {
      return neptune::InvalidArgument("query: rejection requested by the query");
    }
    const bool is_crowded = !IsCommon(query->query()) && !is_tier2_ &&
                            query->query().find("crowd") != std::string::npos;
    if (is_crowded && context.partition() == neptune::PartitionId(1)) {
      return neptune::ResourceExhausted("no room for the query");
    }
    const bool is_long = !is_tier2_ && context.partition() == neptune::PartitionId(1);
    if (is_long && query->query().find("fruitless") != std::string::npos) {
      return context.SleepUntil(context.deadline());
    }
    const bool finds_one = is_long && query->query().find("endless") != std::string::npos;
    const bool is_endless =
        finds_one || (is_long && query->query().find("futil") != std::string::npos);
    while (is_endless && !context.ShouldStop()) {
      (void)neptune::this_thread::SleepFor(std::chrono::milliseconds(1));
    }
    const bool is_heavy = query->query().find("heav") != std::string::npos;
    const bool is_cut = is_endless || (is_heavy && !WorkUntilStopped(context));
    index::TierAnswer answer;
    int hit_count = is_endless ? finds_one : HitCount(query->query(), is_tier2_);
    const bool is_lopsided = !is_tier2_ && query->query().find("lopsid") != std::string::npos;
    int hit_count_max = static_cast<int>(query->hit_count_max());
    if (is_lopsided && query->share() > 0) {
      hit_count_max = std::min(hit_count_max, static_cast<int>(query->share()));
    }
    if (is_lopsided) hit_count = context.partition().value() == 0 ? kLopsidedHitCount : 1;
    for (int i = 0; i < hit_count && i < hit_count_max; ++i) {
      index::TierHit* const hit = answer.add_hits();
      hit->set_doc_id((is_tier2_ ? kFirstTier2Document : 0) +
                      static_cast<uint64_t>(i) * kPartitionStride + context.partition().value());
      hit->set_score(BestScore(query->query(), is_tier2_) - static_cast<float>(i));
    }
    if (query->query().find("nosuchsite") != std::string::npos) answer.add_sites()->set_name("git");
    if (!is_tier2_) AddBounds(query->query(), &answer);
    AddWordCounts(query->query(), &answer);
    answer.set_says_cut(query->query().find("bygon") == std::string::npos);
    if (hit_count > hit_count_max) index::NoteCut(&answer);
    answer.set_total(static_cast<uint64_t>(hit_count));
    answer.set_total_is_exact(!is_cut);
    answer.set_prefix_is_cut(query->query().find("cutprefix") != std::string::npos);
    answer.set_evaluated_completely(!is_cut);
    answer.set_implementation("fake");
    answer.set_index_version(query->index_version() != 0 ? query->index_version()
                                                         : kFakeIndexVersion);
    *out = Data::Of(std::move(answer));
    return neptune::OkStatus();
  }

  bool is_tier2_ = false;
};

class FakeDocuments final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName(docserver::kFetchMethod), {}, Fetch);
    return neptune::OkStatus();
  }
  std::string implementation() const override { return "fake"; }

 private:
  // A heading and a line, with the query's first word in it, but no phrase.
  static void AddText(uint64_t doc_id, const std::string& query, docserver::Summary* summary) {
    const std::string heading = StrCat("Text of document ", doc_id);
    summary->set_text(StrCat(heading, "\ncommon words"));
    summary->set_structure(StrCat("B", heading.size(), "/1p12/"));
    const bool has_phrase = query.find('"') != std::string::npos;
    if (query.find("common") == std::string::npos || has_phrase) return;
    summary->mutable_query_matches()->add_begins(static_cast<uint32_t>(heading.size()) + 1);
    summary->mutable_query_matches()->add_sizes(6);
  }

  static Status Fetch(RequestContext& context, const Data& in, Data* out) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto* const request, in.As<docserver::FetchRequest>());
    if (request->query().find("verbos") != std::string::npos && !WorkUntilStopped(context)) {
      return neptune::Cancelled("fetching documents");
    }
    docserver::FetchResponse response;
    response.set_implementation("fake");
    for (const uint64_t doc_id : request->doc_ids()) {
      docserver::Summary* const summary = response.add_summaries();
      summary->set_doc_id(doc_id);
      summary->set_found(doc_id < 2 * kFirstTier2Document);
      if (!summary->found()) continue;
      summary->set_url(StrCat("http://documents.test/", doc_id));
      summary->set_title(StrCat("Document ", doc_id));
      summary->set_site("documents.test");
      docserver::SnippetPiece* const piece = summary->add_snippet();
      piece->set_text(request->query());
      piece->set_matches_query(true);
      if (request->snippet_size_max() == 0) summary->clear_snippet();
      // The best two documents are near-duplicates.
      summary->set_signature(doc_id <= 1 ? 1 : 0);
      if (request->with_text()) AddText(doc_id, request->query(), summary);
    }
    *out = Data::Of(std::move(response));
    return neptune::OkStatus();
  }
};

class FakeCache final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName(cache::kLookupMethod), {},
                             [this](RequestContext& request, const Data& in, Data* out) {
                               return Lookup(request.Now(), in, out);
                             });
    context.registrar.Method(MethodName(cache::kInsertMethod),
                             {.access = neptune::AccessMode::kWrite, .stateless = false},
                             [this](RequestContext& request, const Data& in, Data* out) {
                               return Insert(request.Now(), in, out);
                             });
    return neptune::OkStatus();
  }
  std::string implementation() const override { return "fake"; }

 private:
  struct Entry {
    std::string value;
    neptune::TimePoint expires_at;
  };

  Status Lookup(neptune::TimePoint now, const Data& in, Data* out) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto* const request, in.As<cache::LookupRequest>());
    cache::LookupResponse response;
    response.set_implementation("fake");
    const auto found = entries_.find({request->key(), request->index_version()});
    response.set_found(found != entries_.end() && now < found->second.expires_at);
    if (response.found()) response.set_value(found->second.value);
    response.set_age_ms(kFakeCacheAgeMs);
    *out = Data::Of(std::move(response));
    return neptune::OkStatus();
  }
  Status Insert(neptune::TimePoint now, const Data& in, Data* out) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto* const request, in.As<cache::InsertRequest>());
    entries_[{request->key(), request->index_version()}] = {
        request->value(), now + std::chrono::milliseconds(request->time_to_live_ms())};
    cache::InsertResponse response;
    response.set_stored(true);
    *out = Data::Of(std::move(response));
    return neptune::OkStatus();
  }

  std::map<std::pair<std::string, uint64_t>, Entry> entries_;
};

}  // namespace

neptune::StatusOr<std::unique_ptr<ServiceModule>> MakeFakeService(const std::string& module) {
  if (module == "fake_tier") return std::make_unique<FakeTier>();
  if (module == "fake_documents") return std::make_unique<FakeDocuments>();
  if (module == "fake_cache") return std::make_unique<FakeCache>();
  return neptune::NotFound("no module '", module, "'");
}

}  // namespace search::frontend
