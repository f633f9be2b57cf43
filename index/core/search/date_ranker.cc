#include "index/core/search/date_ranker.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <utility>
#include <vector>

#include "index/core/search/match_windows.h"

namespace search::index {
namespace {

// Days fit a float without loss.
static_assert(3'652'059 < (1 << 24));

struct Dated {
  uint32_t day = 0;
  uint64_t doc_id = 0;
};

struct IsNewer {
  bool operator()(const Dated& a, const Dated& b) const {
    return a.day != b.day ? a.day > b.day : a.doc_id < b.doc_id;
  }
};

}  // namespace

SearchResult RankByDate(const PlanNode& root, const DateColumn& dates, size_t k,
                        Evaluation* evaluation) {
  const Segment& segment = evaluation->space().segment;
  SearchResult result;
  // The oldest of the newest k is on top.
  std::priority_queue<Dated, std::vector<Dated>, IsNewer> newest;
  for (MatchWindows windows(root, evaluation); windows.Next();) {
    uint32_t first = windows.begin();
    for (uint64_t word : windows.bits()) {
      for (; word != 0; word &= word - 1) {
        const uint32_t ordinal = first + static_cast<uint32_t>(std::countr_zero(word));
        const Dated document = {dates.day(ordinal), segment.doc_ids()[ordinal]};
        ++result.total;
        if (document.day == 0) ++result.undated;
        if (k == 0 || (newest.size() == k && !IsNewer()(document, newest.top()))) continue;
        if (newest.size() == k) newest.pop();
        newest.push(document);
      }
      first += 64;
    }
    evaluation->ShouldStop(static_cast<uint32_t>(windows.bits().size()));
  }
  for (; !newest.empty(); newest.pop()) {
    result.hits.push_back({newest.top().doc_id, static_cast<float>(newest.top().day)});
  }
  std::reverse(result.hits.begin(), result.hits.end());
  result.complete = !evaluation->stopped();
  result.total_is_exact = result.complete;
  return result;
}

}  // namespace search::index
