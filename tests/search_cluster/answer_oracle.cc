#include "tests/search_cluster/answer_oracle.h"

#include <algorithm>

#include "frontend/policy/plan_options.h"
#include "index/core/query/query.h"
#include "index/tier/registry.h"
#include "neptune/base/strings.h"

namespace search::tests {
namespace {

using frontend::SearchAnswer;
using frontend::SearchResult;
using frontend::ServiceCoverage;
using index::TierAnswer;
using index::TierHit;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;

std::set<uint32_t> PartitionsOf(const ServiceCoverage& coverage) {
  std::set<uint32_t> partitions;
  for (const frontend::MissingPartition& missing : coverage.missing) {
    partitions.insert(missing.partition);
  }
  return partitions;
}

void AppendSet(const char* name, const std::set<uint32_t>& set, std::string* text) {
  StrAppend(text, text->empty() ? "" : ", ", name);
  if (set.empty()) StrAppend(text, " -");
  for (const uint32_t partition : set) StrAppend(text, " ", partition);
}

bool WasAsked(const SearchAnswer& answer, std::string_view service) {
  return std::any_of(answer.coverage.tiers.begin(), answer.coverage.tiers.end(),
                     [&](const ServiceCoverage& tier) { return tier.service == service; });
}

// Sorts hits in the order of both phases; every hit must have its gain.
std::vector<TierHit> InOrder(std::vector<TierHit> hits) {
  const auto sort_by = [&](const auto& value) {
    std::sort(hits.begin(), hits.end(), [&](const TierHit& a, const TierHit& b) {
      return value(a) != value(b) ? value(a) > value(b) : a.doc_id() < b.doc_id();
    });
  };
  sort_by([](const TierHit& hit) { return hit.score(); });
  const size_t rated = frontend::SearchPlanOptions().second_phase_count;
  for (size_t i = rated; i < hits.size(); ++i) hits[i].clear_gain();
  sort_by([](const TierHit& hit) { return hit.score() + hit.gain(); });
  return hits;
}

}  // namespace

std::string ToString(const MissingSet& missing) {
  std::string text;
  AppendSet("tier1", missing.tier1, &text);
  AppendSet("tier2", missing.tier2, &text);
  AppendSet("documents", missing.documents, &text);
  return text;
}

MissingSet ClaimedMissing(const SearchAnswer& answer) {
  MissingSet missing;
  for (const ServiceCoverage& tier : answer.coverage.tiers) {
    (tier.service == "tier 1" ? missing.tier1 : missing.tier2) = PartitionsOf(tier);
  }
  missing.documents = PartitionsOf(answer.coverage.documents);
  return missing;
}

StatusOr<std::unique_ptr<AnswerOracle>> AnswerOracle::Open(const std::string& folder,
                                                           const SmallCorpus& corpus,
                                                           const Placement& placement,
                                                           uint32_t good_hits_min) {
  std::unique_ptr<AnswerOracle> oracle(new AnswerOracle(corpus, placement, good_hits_min));
  NEPTUNE_ASSIGN_OR_RETURN(oracle->single_, index::OpenIndexTier("segment", folder + "/single/0"));
  return oracle;
}

StatusOr<TierAnswer> AnswerOracle::SearchAll(const std::string& text) const {
  NEPTUNE_ASSIGN_OR_RETURN(const index::Query query, index::ParseQuery(text));
  if (query.empty()) return TierAnswer();
  index::TierQuery question;
  question.set_query(index::Canonical(query));
  question.set_hit_count_max(kDocumentCountMax);
  question.set_count_exactly(true);
  question.set_second_phase_count(kDocumentCountMax);
  return single_->Search(question, {});
}

AnswerOracle::Expected AnswerOracle::Expect(const SearchAnswer& answer,
                                            const TierAnswer& all) const {
  const MissingSet missing = ClaimedMissing(answer);
  const size_t wanted = answer.start + answer.count;
  std::vector<TierHit> tier1;
  std::vector<TierHit> tier2;
  for (const TierHit& hit : all.hits()) {
    const bool in_tier1 = placement_.in_tier1(hit.doc_id());
    if ((in_tier1 ? missing.tier1 : missing.tier2)
            .contains(placement_.tier_partition(hit.doc_id()))) {
      continue;
    }
    (in_tier1 ? tier1 : tier2).push_back(hit);
  }
  std::vector<TierHit> both = tier1;
  both.insert(both.end(), tier2.begin(), tier2.end());
  tier1 = InOrder(std::move(tier1));
  Expected expected;
  expected.hits = tier1;
  expected.total = tier1.size();
  if (placement_.shape().tier2_partitions > 0 &&
      tier1.size() < std::max<size_t>(good_hits_min_, wanted)) {
    expected.tier2_asked = true;
    expected.total = both.size();
    const bool tier1_comes_first = tier1.size() >= good_hits_min_;
    if (tier1_comes_first) {
      tier2 = InOrder(std::move(tier2));
      expected.hits.insert(expected.hits.end(), tier2.begin(), tier2.end());
    } else {
      expected.hits = InOrder(std::move(both));
    }
  }
  expected.hits.resize(std::min(expected.hits.size(), wanted));
  expected.hits.erase(expected.hits.begin(),
                      expected.hits.begin() + static_cast<ptrdiff_t>(std::min<size_t>(
                                                  answer.start, expected.hits.size())));
  return expected;
}

std::string AnswerOracle::CheckResult(const SearchResult& result, const TierHit& hit,
                                      const MissingSet& missing) const {
  if (result.doc_id != StrCat(hit.doc_id())) {
    return StrCat("document ", result.doc_id, " is at the position of ", hit.doc_id());
  }
  const float score = hit.score() + hit.gain();
  if (static_cast<float>(result.score) != score) {
    return StrCat("document ", result.doc_id, " has score ", result.score, ", not ", score);
  }
  const bool there = !missing.documents.contains(placement_.document_partition(hit.doc_id()));
  if (result.has_summary != there) {
    return StrCat("document ", result.doc_id, there ? " lacks its" : " has a", " summary");
  }
  const auto at = std::lower_bound(
      corpus_.documents.begin(), corpus_.documents.end(), hit.doc_id(),
      [](const index::TestDocument& document, uint64_t id) { return document.doc_id < id; });
  const std::string& url = corpus_.urls[static_cast<size_t>(at - corpus_.documents.begin())];
  if (there && (result.url != url || result.title != at->title || result.site != at->site)) {
    return StrCat("document ", result.doc_id, " is shown as ", result.url, " '", result.title, "'");
  }
  return {};
}

std::string AnswerOracle::Check(const SearchAnswer& answer) const {
  const StatusOr<TierAnswer> all = SearchAll(answer.query);
  if (!all.ok()) return StrCat("oracle: ", all.status().ToString());
  const MissingSet missing = ClaimedMissing(answer);
  const Expected expected = Expect(answer, *all);
  const std::string head =
      StrCat("query '", answer.query, "' start ", answer.start, " (", ToString(missing), "): ");
  if (answer.results.size() != expected.hits.size()) {
    return StrCat(head, answer.results.size(), " results, not ", expected.hits.size());
  }
  for (size_t i = 0; i < expected.hits.size(); ++i) {
    const std::string wrong = CheckResult(answer.results[i], expected.hits[i], missing);
    if (!wrong.empty()) return StrCat(head, "result ", i, ": ", wrong);
  }
  if (answer.total != expected.total) {
    return StrCat(head, "total ", answer.total, ", not ", expected.total);
  }
  if (answer.query.empty() || all->hits().empty()) return {};
  if (WasAsked(answer, "tier 2") != expected.tier2_asked) {
    return StrCat(head, "tier 2 was ", expected.tier2_asked ? "not asked" : "asked for nothing");
  }
  const bool exact = missing.tier1.empty() && missing.tier2.empty() && expected.tier2_asked;
  if (answer.total_is_exact != exact) {
    return StrCat(head, "total is reported as ", answer.total_is_exact ? "" : "not ", "exact");
  }
  return {};
}

MissingSet AnswerOracle::MustClaim(const SearchAnswer& answer, const MissingSet& ledger) const {
  MissingSet must;
  if (WasAsked(answer, "tier 1")) must.tier1 = ledger.tier1;
  if (WasAsked(answer, "tier 2")) must.tier2 = ledger.tier2;
  for (const SearchResult& result : answer.results) {
    const uint32_t partition = placement_.document_partition(std::stoull(result.doc_id));
    if (ledger.documents.contains(partition)) must.documents.insert(partition);
  }
  return must;
}

}  // namespace search::tests
