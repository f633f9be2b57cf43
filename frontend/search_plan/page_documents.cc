#include "frontend/search_plan/page_documents.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "frontend/policy/plan_policy.h"
#include "index/core/document_fields.h"
#include "index/tier/operators.h"
#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using neptune::StrCat;

void AdoptSnippet(docserver::Summary* summary, SearchResult* result) {
  for (docserver::SnippetPiece& piece : *summary->mutable_snippet()) {
    result->snippet.push_back({std::move(*piece.mutable_text()), piece.matches_query()});
  }
}

// The score of a hit that is sorted by date is its day.
void ShowDate(float day, SearchResult* result) {
  result->score = std::numeric_limits<double>::quiet_NaN();
  constexpr float kDayEnd = 3'652'060;  // after the year 9999
  if (day >= 1 && day < kDayEnd) result->date = index::FormatDay(static_cast<uint32_t>(day));
}

// The same from an index tier.
docserver::Summary SummaryOf(const index::DocumentTitle& title) {
  docserver::Summary summary;
  summary.set_found(true);
  summary.set_url(title.url());
  summary.set_title(title.title());
  summary.set_site(title.site());
  summary.set_public_url(title.public_url());
  return summary;
}

SearchResult ResultOf(const index::TierHit& hit, bool by_date, docserver::Summary summary) {
  SearchResult result{.doc_id = StrCat(hit.doc_id()),
                      .lacked_bits = hit.lacks(),
                      .score = index::FinalScore(hit),
                      .gain = hit.gain(),
                      .has_summary = summary.found()};
  if (by_date) ShowDate(hit.score(), &result);
  if (!summary.found()) return result;
  result.url = std::move(*summary.mutable_url());
  result.title = std::move(*summary.mutable_title());
  result.site = std::move(*summary.mutable_site());
  result.public_url = std::move(*summary.mutable_public_url());
  AdoptSnippet(&summary, &result);
  return result;
}

// Adds the coverage of a further round: its partitions may be others.
void MergeCoverage(ServiceCoverage more, ServiceCoverage* coverage) {
  if (coverage->partitions_asked == 0) {
    *coverage = std::move(more);
    return;
  }
  coverage->implementation =
      index::JoinImplementations(coverage->implementation, more.implementation);
  coverage->partitions_asked = std::max(coverage->partitions_asked, more.partitions_asked);
  for (MissingPartition& partition : more.missing) {
    const bool is_known =
        std::any_of(coverage->missing.begin(), coverage->missing.end(),
                    [&](const auto& one) { return one.partition == partition.partition; });
    if (!is_known) coverage->missing.push_back(std::move(partition));
  }
  coverage->partitions_asked =
      std::max(coverage->partitions_asked, static_cast<uint32_t>(coverage->missing.size()));
}

}  // namespace

uint32_t PageDocuments::Fill(const index::TierAnswer& hits, const PageWindow& page,
                             bool folds_sites, SearchAnswer* answer) {
  const auto hit_count = static_cast<size_t>(hits.hits_size());
  FetchNext(hits, page.start, std::min(hit_count, size_t{page.start} + page.count), true, answer);
  if (!page.folds) {
    TakeAll(answer);
    return answer->covered_count;
  }
  const FoldingRules rules{.count = page.count, .folds_sites = folds_sites && page.start == 0};
  const size_t first_round = fetched_.size();
  const FoldedPage folded = FoldWithMore(hits, page, rules, answer);
  FetchSnippets(folded, first_round, answer);
  TakeFolded(folded, answer);
  return folded.is_plain ? answer->covered_count : CandidateCount(page);
}

FoldedPage PageDocuments::FoldWithMore(const index::TierAnswer& hits, const PageWindow& page,
                                       FoldingRules rules, SearchAnswer* answer) {
  const size_t limit =
      std::min<size_t>(hits.hits_size(), size_t{page.start} + CandidateCount(page));
  const auto score = [&](size_t i) { return index::FinalScore(hits.hits(static_cast<int>(i))); };
  for (int round = 0; round < kMoreRoundsMax; ++round) {
    const size_t begin = page.start + fetched_.size();
    rules.next_score.reset();
    if (begin < limit && answer->coverage.documents.complete()) rules.next_score = score(begin);
    FoldedPage folded = FoldPage(candidates_, rules);
    if (!folded.wants_more) return folded;
    size_t end = begin;
    while (end < limit && score(end) >= folded.wanted_score_min) ++end;
    FetchNext(hits, begin, end, /*with_snippets=*/false, answer);
  }
  rules.next_score.reset();
  return FoldPage(candidates_, rules);
}

void PageDocuments::FetchNext(const index::TierAnswer& hits, size_t begin, size_t end,
                              bool with_snippets, SearchAnswer* answer) {
  if (begin >= end) return;
  DocumentRequest request = request_;
  request.with_snippets = with_snippets;
  for (size_t i = begin; i < end; ++i) {
    request.doc_ids.push_back(hits.hits(static_cast<int>(i)).doc_id());
  }
  const bool are_named = AreNamed(hits, begin, end);
  FetchedDocuments documents;
  if (!are_named) documents = client_.FetchSummaries(session_, request);
  for (size_t i = begin; i < end; ++i) {
    docserver::Summary summary = are_named ? SummaryOf(hits.hits(static_cast<int>(i)).title())
                                           : std::move(documents.summaries[i - begin]);
    const uint64_t signature = summary.signature();
    fetched_.push_back(
        ResultOf(hits.hits(static_cast<int>(i)), answer->by_date, std::move(summary)));
    const SearchResult& result = fetched_.back();
    candidates_.push_back({.site = result.site,
                           .title = result.title,
                           .signature = signature,
                           .score = result.score,
                           .is_known = result.has_summary});
    doc_ids_.push_back(hits.hits(static_cast<int>(i)).doc_id());
  }
  if (are_named) return;
  if (!documents.coverage.complete()) NameMissing(fetched_.size() - (end - begin));
  MergeCoverage(std::move(documents.coverage), &answer->coverage.documents);
}

// True if the hits came with all that a page without summaries shows.
bool PageDocuments::AreNamed(const index::TierAnswer& hits, size_t begin, size_t end) const {
  if (client_.makes_snippets()) return false;
  for (size_t i = begin; i < end; ++i) {
    if (!hits.hits(static_cast<int>(i)).has_title()) return false;
  }
  return true;
}

// Names the documents from `begin` on whose servers did not answer. They stay without a summary.
void PageDocuments::NameMissing(size_t begin) {
  std::vector<uint64_t> missing;
  for (size_t i = begin; i < fetched_.size(); ++i) {
    if (!fetched_[i].has_summary) missing.push_back(doc_ids_[i]);
  }
  const index::TitlesAnswer titles =
      client_.FetchTitles(session_, missing, request_.index_version, request_.titles_end);
  for (const index::DocumentTitle& title : titles.documents()) {
    const auto found =
        std::find(doc_ids_.begin() + static_cast<ptrdiff_t>(begin), doc_ids_.end(), title.doc_id());
    if (found == doc_ids_.end()) continue;
    SearchResult& result = fetched_[static_cast<size_t>(found - doc_ids_.begin())];
    if (result.has_summary) continue;
    result.url = title.url();
    result.title = title.title();
    result.site = title.site();
    result.public_url = title.public_url();
  }
}

void PageDocuments::FetchSnippets(const FoldedPage& folded, size_t begin, SearchAnswer* answer) {
  DocumentRequest request = request_;
  std::vector<size_t> wanted;
  for (const FoldedResult& shown : folded.results) {
    if (shown.index < begin) continue;
    wanted.push_back(shown.index);
    request.doc_ids.push_back(doc_ids_[shown.index]);
  }
  if (wanted.empty()) return;
  FetchedDocuments documents = client_.FetchSummaries(session_, request);
  for (size_t i = 0; i < wanted.size(); ++i) {
    AdoptSnippet(&documents.summaries[i], &fetched_[wanted[i]]);
  }
  MergeCoverage(std::move(documents.coverage), &answer->coverage.documents);
}

void PageDocuments::TakeAll(SearchAnswer* answer) {
  answer->results = std::move(fetched_);
  answer->covered_count = static_cast<uint32_t>(answer->results.size());
}

void PageDocuments::TakeFolded(const FoldedPage& folded, SearchAnswer* answer) {
  answer->covered_count = static_cast<uint32_t>(folded.covered_count);
  for (const FoldedResult& shown : folded.results) {
    SearchResult& result = answer->results.emplace_back(std::move(fetched_[shown.index]));
    result.more_of_site = static_cast<uint32_t>(shown.more_of_site.size());
    for (const size_t index : shown.similar) {
      SearchResult& similar = fetched_[index];
      result.similar.push_back(
          {std::move(similar.doc_id), std::move(similar.url), std::move(similar.title)});
    }
  }
}

}  // namespace search::frontend
