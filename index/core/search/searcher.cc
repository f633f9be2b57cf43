#include "index/core/search/searcher.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "index/core/search/block_ranker.h"
#include "index/core/search/date_column.h"
#include "index/core/search/date_ranker.h"
#include "index/core/search/document_ranker.h"
#include "index/core/search/document_rater.h"
#include "index/core/search/evaluation.h"
#include "index/core/search/flat_count.h"
#include "index/core/search/flat_plan.h"
#include "index/core/search/match_counter.h"
#include "index/core/search/query_plan.h"
#include "index/core/search/site_column.h"
#include "index/core/search/site_counter.h"
#include "index/core/search/top_k_queue.h"

namespace search::index {
namespace {

uint64_t CountAll(const QueryPlan& plan, const std::optional<FlatPlan>& flat,
                  Evaluation* evaluation) {
  if (flat && flat->phrases.empty() && flat->any_of.phrases.empty()) {
    const auto counted = CountFlat(*flat, evaluation);
    if (counted) return *counted;
  }
  return CountMatches(plan.root, evaluation);
}

// Rates the best documents and reorders them; leaves the order unchanged when stopped. `entries`
// belong to the result's hits, of which the first second_phase_count are rated.
neptune::Status RunSecondPhase(const Query& query, const SearchOptions& options,
                               const std::vector<TopKQueue::Entry>& entries, Evaluation* evaluation,
                               SearchResult* result) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto rater,
                           DocumentRater::Create(query, options.second_phase, evaluation));
  std::vector<uint32_t> by_ordinal(std::min(result->second_phase_count, entries.size()));
  std::iota(by_ordinal.begin(), by_ordinal.end(), 0U);
  std::sort(by_ordinal.begin(), by_ordinal.end(),
            [&](uint32_t a, uint32_t b) { return entries[a].ordinal < entries[b].ordinal; });
  for (const uint32_t i : by_ordinal) {
    if (evaluation->stopped()) break;
    result->hits[i].gain = ToScore(rater->Rate(entries[i].ordinal).units());
    result->hits[i].lacks = rater->lacks();
  }
  if (evaluation->stopped()) result->second_phase_count = 0;
  result->second_phase_lacks_positions = rater->lacks_positions();
  OrderHits(result->second_phase_count, &result->hits);
  return neptune::OkStatus();
}

}  // namespace

class Searcher::Rep {
 public:
  Rep(const Segment& segment, const CollectionStatistics& statistics, const RankingOptions& options,
      SiteColumn sites, DateColumn dates)
      : space_(segment, statistics, options), sites_(std::move(sites)), dates_(std::move(dates)) {}

  neptune::StatusOr<SearchResult> Search(const Query& query, const SearchOptions& options) const {
    NEPTUNE_ASSIGN_OR_RETURN(const QueryPlan plan,
                             MakeQueryPlan(query, space_.segment, options.stop));
    NEPTUNE_RETURN_IF_ERROR(CheckLive(options));
    const LiveDocuments* live = options.live_documents;
    if (!IsValid(options.second_phase)) {
      return neptune::InvalidArgument("searcher: invalid weights of the second phase");
    }
    SearchResult result;
    result.prefix_is_cut = plan.prefix_is_cut;
    result.phrase_is_left_out = plan.phrase_is_left_out;
    if (options.k > 0) {
      result.second_phase_count = std::min(options.second_phase_count, kHitCountMax);
    }
    if (plan.is_stopped) {
      result.complete = false;
      result.second_phase_count = 0;
      return result;
    }
    result.total_is_exact = plan.root.kind == PlanNode::Kind::kNothing;
    if (result.total_is_exact) return result;
    if (options.expect) options.expect(plan.ExpectedPostings());
    Evaluation evaluation(space_, live, options.stop);
    if (options.by_date) return SearchByDate(plan, options, &evaluation);
    const auto flat = options.exhaustive ? std::nullopt : Flatten(plan);
    // If phrases must be counted, ranking counts them on the way.
    const bool counts_phrases = options.count_exactly && flat && !flat->phrases.empty();
    if (options.k > 0 || counts_phrases) {
      NEPTUNE_RETURN_IF_ERROR(RankHits(query, plan, flat, options, &evaluation, &result));
    }
    if (live == nullptr && plan.root.kind == PlanNode::Kind::kLeaf &&
        !plan.root.leaves[0].title_only) {
      result.total = plan.root.leaves[0].entry.document_frequency;
      result.total_is_exact = true;
    } else if (options.count_exactly && !result.total_is_exact && !evaluation.stopped()) {
      const uint64_t counted = CountAll(plan, flat, &evaluation);
      result.total = std::max(result.total, counted);
      result.total_is_exact = !evaluation.stopped();
    }
    result.complete = !evaluation.stopped();
    if (evaluation.damaged()) return space_.segment.DamagedPostings();
    return result;
  }

  neptune::StatusOr<SiteCounts> CountSites(const Query& query, const SearchOptions& options) const {
    NEPTUNE_RETURN_IF_ERROR(CheckLive(options));
    if (!sites_.is_known()) {
      return neptune::ResourceExhausted("more than ", kSiteColumnNamesMax, " names of sites in ",
                                        space_.segment.name());
    }
    return index::CountSites(space_, sites_, query, options.live_documents, options.stop);
  }

  const SearchSpace& space() const { return space_; }
  size_t memory_size() const {
    return space_.impacts.size() + sites_.sites().size_bytes() + dates_.size_bytes();
  }

 private:
  neptune::StatusOr<SearchResult> SearchByDate(const QueryPlan& plan, const SearchOptions& options,
                                               Evaluation* evaluation) const {
    SearchResult result =
        RankByDate(plan.root, dates_, std::min(options.k, kHitCountMax), evaluation);
    result.prefix_is_cut = plan.prefix_is_cut;
    result.phrase_is_left_out = plan.phrase_is_left_out;
    if (evaluation->damaged()) return space_.segment.DamagedPostings();
    return result;
  }

  neptune::Status CheckLive(const SearchOptions& options) const {
    const LiveDocuments* live = options.live_documents;
    if (live == nullptr || live->document_count() == space_.segment.document_count()) {
      return neptune::OkStatus();
    }
    return neptune::InvalidArgument("searcher: the live documents do not belong to segment ",
                                    space_.segment.name());
  }

  neptune::Status RankHits(const Query& query, const QueryPlan& plan,
                           const std::optional<FlatPlan>& flat, const SearchOptions& options,
                           Evaluation* evaluation, SearchResult* result) const {
    const size_t count = options.k == 0 ? 0 : std::max(options.k, options.second_phase_count);
    const Segment& segment = space_.segment;
    TopKQueue queue(std::min(count, kHitCountMax), !options.exhaustive,
                    segment.is_reordered() ? segment.doc_ids() : std::span<const uint64_t>());
    const RankingOutcome outcome =
        flat ? BlockRanker(*flat, options.count_exactly, evaluation, &queue).Run()
             : DocumentRanker(plan, options.exhaustive, evaluation, &queue).Run();
    const std::vector<TopKQueue::Entry> entries = queue.Take();
    for (const TopKQueue::Entry& entry : entries) {
      result->hits.push_back({segment.doc_ids()[entry.ordinal], entry.score});
    }
    result->total = outcome.matched;
    result->total_is_exact = !outcome.pruned && !evaluation->stopped();
    if (evaluation->stopped()) result->second_phase_count = 0;
    if (result->second_phase_count == 0) return neptune::OkStatus();
    return RunSecondPhase(query, options, entries, evaluation, result);
  }

  const SearchSpace space_;
  const SiteColumn sites_;
  const DateColumn dates_;
};

neptune::StatusOr<std::unique_ptr<Searcher>> Searcher::Create(
    const Segment& segment, const CollectionStatistics& statistics, const RankingOptions& options) {
  if (!IsValid(options)) return neptune::InvalidArgument("searcher: invalid ranking options");
  NEPTUNE_ASSIGN_OR_RETURN(SiteColumn sites, SiteColumn::Read(segment));
  NEPTUNE_ASSIGN_OR_RETURN(DateColumn dates, DateColumn::Read(segment));
  return std::unique_ptr<Searcher>(new Searcher(
      std::make_unique<Rep>(segment, statistics, options, std::move(sites), std::move(dates))));
}

Searcher::Searcher(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Searcher::~Searcher() = default;

neptune::StatusOr<SearchResult> Searcher::Search(const Query& query,
                                                 const SearchOptions& options) const {
  return rep_->Search(query, options);
}

neptune::StatusOr<SiteCounts> Searcher::CountSites(const Query& query,
                                                   const SearchOptions& options) const {
  return rep_->CountSites(query, options);
}

size_t Searcher::memory_size() const { return rep_->memory_size(); }

neptune::StatusOr<Explanation> Searcher::Explain(const Query& query, uint64_t doc_id,
                                                 const SecondPhaseWeights& second_phase) const {
  if (!IsValid(second_phase)) {
    return neptune::InvalidArgument("searcher: invalid weights of the second phase");
  }
  return ExplainScore(rep_->space(), query, doc_id, second_phase);
}

}  // namespace search::index
