#include "tools/lab/engine/sequence.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace search::lab {
namespace {

// The number of runs that a row needs is itself an estimate; one that promises to need no more than
// this many times the limit gets the benefit of the doubt.
constexpr double kDoubt = 2;

// The misses used up after this share of the runs.
double SpentAfter(double share) { return kMiss * std::log1p((std::numbers::e - 1) * share); }

}  // namespace

std::vector<Look> PlanLooks(int least, int most) {
  CHECK(1 <= least && least <= most) << least << " to " << most << " runs";
  std::vector<Look> looks;
  double spent = 0;
  for (int count = least;; count = std::min(2 * count, most)) {
    const double until = SpentAfter(static_cast<double>(count) / most);
    looks.push_back({count, until - spent});
    spent = until;
    if (count == most) return looks;
  }
}

bool IsWorthMoreRuns(const Judgement& judgement, int run_count, int most) {
  if (run_count >= most) return false;
  return std::any_of(judgement.rows().begin(), judgement.rows().end(), [&](const Row& row) {
    return judgement.Counts(row) && row.decision.verdict == Verdict::kNotDecided &&
           run_count + row.decision.more_runs <= kDoubt * most;
  });
}

}  // namespace search::lab
