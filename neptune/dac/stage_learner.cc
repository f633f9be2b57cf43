#include "neptune/dac/stage_learner.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace neptune {

size_t StageLearner::KindOf(double reductions_left) {
  if (!(reductions_left > 1)) return 0;
  const double octaves = std::log2(reductions_left);
  return std::min(static_cast<size_t>(2 * octaves), kKindCount - 1);
}

std::optional<StageLearner::Choice> StageLearner::Choose(size_t server_count,
                                                         double reductions_left,
                                                         RandomSource& random) const {
  // Total number of stages in a binomial tree: the root's largest child has a stage for each
  // sibling, and so does its own largest child in turn.
  const auto height = static_cast<double>(std::bit_width(server_count));
  const double stages = height * (height + 1) / 2;
  if (kStageLengths.back() * stages < kStageShareMax * reductions_left) return std::nullopt;
  Choice choice{KindOf(reductions_left)};
  const auto& quality = kinds_[choice.kind].quality;
  const Ewma& longest = quality.back();
  if (longest.count() < kTrialCountMin || longest.value() >= 1 - kNearly) return choice;
  double best = 0;
  for (size_t i = quality.size(); i-- > 0;) {
    if (quality[i].count() < kTrialCountMin) {
      choice.stage = i;  // the longest one without enough trials
      return choice;
    }
    best = std::max(best, quality[i].value());
  }
  if (best < 1 - kNearly && random.Below(kTrialOneIn) == 0) {
    choice.stage = random.Below(quality.size());
    return choice;
  }
  while (quality[choice.stage].value() < best - kNearly) --choice.stage;
  return choice;
}

void StageLearner::OnEnd(const Choice& choice, double quality) {
  kinds_[choice.kind].quality[choice.stage].Add(quality);
}

}  // namespace neptune
