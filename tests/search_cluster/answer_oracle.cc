#include "tests/search_cluster/answer_oracle.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "frontend/policy/plan_options.h"
#include "index/core/query/query.h"
#include "index/core/query/relaxation.h"
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
                                                           const Placement& placement) {
  std::unique_ptr<AnswerOracle> oracle(new AnswerOracle(corpus, placement));
  NEPTUNE_ASSIGN_OR_RETURN(oracle->single_, index::OpenIndexTier("segment", folder + "/single/0"));
  return oracle;
}

StatusOr<TierAnswer> AnswerOracle::SearchAll(const std::string& text, bool is_relaxed) const {
  NEPTUNE_ASSIGN_OR_RETURN(index::Query query, index::ParseQuestion(text));
  if (is_relaxed) {
    std::optional<index::Relaxation> relaxed = index::Relax(query);
    if (!relaxed.has_value()) return neptune::NotFound("the query demands nothing");
    query = std::move(relaxed->query);
  }
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
  Expected expected;
  for (const TierHit& hit : all.hits()) {
    const bool in_tier1 = placement_.in_tier1(hit.doc_id());
    if ((in_tier1 ? missing.tier1 : missing.tier2)
            .contains(placement_.tier_partition(hit.doc_id()))) {
      continue;
    }
    expected.hits.push_back(hit);
    ++expected.total;
    if (in_tier1) ++expected.tier1_total;
  }
  expected.hits = InOrder(std::move(expected.hits));
  expected.hits.resize(std::min<size_t>(expected.hits.size(), answer.start + answer.count));
  expected.hits.erase(expected.hits.begin(),
                      expected.hits.begin() + static_cast<ptrdiff_t>(std::min<size_t>(
                                                  answer.start, expected.hits.size())));
  return expected;
}

std::string AnswerOracle::CheckTotal(const SearchAnswer& answer, const Expected& expected,
                                     bool some_are_missing) {
  const bool tier2_asked = WasAsked(answer, "tier 2");
  const uint64_t total = tier2_asked ? expected.total : expected.tier1_total;
  if (answer.total != total) return StrCat("total ", answer.total, ", not ", total);
  const bool is_whole = !some_are_missing && answer.total == expected.total;
  if (answer.total_is_exact && !is_whole) return "total is reported as exact";
  if (!answer.total_is_exact && is_whole && tier2_asked) return "total is reported as not exact";
  return {};
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
  // Index tiers may name a document whose server did not answer.
  const bool is_named = there || !result.url.empty() || !result.title.empty();
  if (is_named && (result.url != url || result.title != at->title || result.site != at->site)) {
    return StrCat("document ", result.doc_id, " is shown as ", result.url, " '", result.title, "'");
  }
  return {};
}

std::string AnswerOracle::CheckRelaxed(const SearchAnswer& answer) const {
  const StatusOr<TierAnswer> strict = SearchAll(answer.query);
  if (!strict.ok()) return StrCat("oracle: ", strict.status().ToString());
  const uint64_t total = Expect(answer, *strict).total;
  if (total == 0) return {};
  return StrCat("query '", answer.query, "': relaxed, but ", total, " documents match");
}

std::string AnswerOracle::Check(const SearchAnswer& answer) const {
  const bool is_relaxed = !answer.unmet_demands.empty();
  if (is_relaxed) {
    std::string wrong = CheckRelaxed(answer);
    if (!wrong.empty()) return wrong;
  }
  const StatusOr<TierAnswer> all = SearchAll(answer.query, is_relaxed);
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
  const bool some_are_missing = !missing.tier1.empty() || !missing.tier2.empty();
  const bool is_found = !answer.query.empty() && !all->hits().empty();
  if (is_found && !WasAsked(answer, "tier 1")) return StrCat(head, "tier 1 was not asked");
  if (is_found && answer.coverage.equals_single_index() &&
      (some_are_missing || !missing.documents.empty())) {
    return StrCat(head, "claims to be that of a single index");
  }
  const std::string wrong = CheckTotal(answer, expected, some_are_missing);
  return wrong.empty() ? wrong : StrCat(head, wrong);
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
