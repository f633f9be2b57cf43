// Learns the stage length of a call's deadlines from the quality of previous calls.
//
//   long stages    a child ends early: it prunes more, and its answer never arrives too late
//   short stages   a child waits longer: it has more results, but its answer is sometimes too late
//
// Which is better depends on the deadline relative to the work. Calls with about the same time,
// counted in reductions, form one kind (half an octave each). For each kind the learner keeps the
// mean quality of each stage length. Most calls get the best length, i.e. the longest of those that
// are within kNearly of the best; one call in kTrialOneIn gets a random one unless the best is
// nearly perfect. The learner starts with the longest stages, and keeps them while no partition is
// missing, or while all stages in sequence take less than kStageShareMax of the time: partitions
// are then not missing for lack of time, and long stages bound the cost of a server that never
// answers.
//
// Source: the idea of a learned waiting time is Cedar's [Kumar16]; [Chu03] 4.4 for the stages.
// Departs from source: learns from the quality of whole calls, not from a model of the children's
// times. No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: stages and times left are in mean reductions.
// Limits: kKindCount kinds; times beyond the range count as the first or the last kind.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "neptune/base/ewma.h"
#include "neptune/world/random_source.h"

namespace neptune {

// Stage lengths in mean reductions. The longest is 4: a reduction that exceeds its stage costs its
// whole subtree, and two in a hundred exponentially distributed ones take longer than four means.
inline constexpr std::array<double, 5> kStageLengths = {0.25, 0.5, 1, 2, 4};

class StageLearner {
 public:
  // The stage length of a call; passed back to OnEnd with the call's quality.
  struct Choice {
    size_t kind = 0;
    size_t stage = kStageLengths.size() - 1;
    double length() const { return kStageLengths[stage]; }
  };

  // Chooses the stage length of a call over `server_count` servers that has time for
  // `reductions_left` reductions. nullopt: use the longest stages, nothing is to be learned. Zero
  // and negative times count as the shortest.
  std::optional<Choice> Choose(size_t server_count, double reductions_left,
                               RandomSource& random) const;
  // Reports the quality of the call, 0 to 1; 0 if it had no answer.
  void OnEnd(const Choice& choice, double quality);

 private:
  static constexpr size_t kKindCount = 32;
  // Trials of each length before its mean is used.
  static constexpr uint64_t kTrialCountMin = 4;
  static constexpr uint32_t kTrialOneIn = 32;
  // Means that differ by less are considered equal; a mean this close to 1 is considered perfect.
  static constexpr double kNearly = 0.01;
  static constexpr double kStageShareMax = 0.25;
  // Two thirds of the weight are on the last 20 calls.
  static constexpr double kWeight = 0.05;

  struct Kind {
    std::array<Ewma, kStageLengths.size()> quality{Ewma(kWeight), Ewma(kWeight), Ewma(kWeight),
                                                   Ewma(kWeight), Ewma(kWeight)};
  };
  static size_t KindOf(double reductions_left);

  std::array<Kind, kKindCount> kinds_;
};

}  // namespace neptune
