#include "index/core/search/site_counter.h"

#include <bit>
#include <string>

#include "index/core/search/match_windows.h"
#include "index/core/search/query_plan.h"

namespace search::index {
namespace {

// Adds the documents of a window, and returns their number.
uint64_t CountWindow(const MatchWindows& windows, std::span<const uint16_t> sites,
                     std::vector<uint32_t>* counts) {
  uint64_t total = 0;
  uint32_t first = windows.begin();
  for (uint64_t word : windows.bits()) {
    total += static_cast<uint64_t>(std::popcount(word));
    for (; word != 0; word &= word - 1) {
      const uint16_t site = sites[first + static_cast<uint32_t>(std::countr_zero(word))];
      if (site != SiteColumn::kNone) ++(*counts)[site];
    }
    first += 64;
  }
  return total;
}

}  // namespace

neptune::StatusOr<SiteCounts> CountSites(const SearchSpace& space, const SiteColumn& column,
                                         const Query& query, const LiveDocuments* live,
                                         const std::function<bool()>& stop) {
  NEPTUNE_ASSIGN_OR_RETURN(const QueryPlan plan, MakeQueryPlan(query, space.segment, stop));
  SiteCounts result;
  result.complete = !plan.is_stopped;
  if (plan.is_stopped) return result;
  if (plan.root.kind == PlanNode::Kind::kNothing) return result;
  Evaluation evaluation(space, live, stop);
  std::vector<uint32_t> counts(column.names().size(), 0);
  for (MatchWindows windows(plan.root, &evaluation); windows.Next();) {
    const uint64_t count = CountWindow(windows, column.sites(), &counts);
    result.total += count;
    evaluation.ShouldStop(static_cast<uint32_t>(count));
  }
  result.complete = !evaluation.stopped();
  if (evaluation.damaged()) return space.segment.DamagedPostings();
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) result.sites.push_back({column.names()[i], counts[i]});
  }
  return result;
}

}  // namespace search::index
