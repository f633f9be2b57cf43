// How long the stages of a call's deadlines shall be, learned from what calls bring.
//
//   long stages    a child ends early: what it still waits for is pruned, and nothing comes too late for its parent
//   short stages   a child waits longer: it has more, and now and then comes too late with all of it
//
// Which is better depends on how short the deadline is against the work. Calls with about as much time, counted in
// reductions, are one kind (half an octave each). Of each kind the learner keeps the mean quality that each stage
// length brought, gives most calls the best one, the longest of those that are nearly so, and one in kTrialOneIn
// another, as long as the best is not nearly perfect. Long stages are where it begins, and where it stays while nothing
// is missing, or while all stages one after the other take but kStageShareMax of the time: what is missing then is not
// for want of time, and long stages bound what a server that never answers can cost.
//
// Source: the idea of a learned waiting time is Cedar's (SIGCOMM 2014); [Chu03] 4.4 for the stages.
// Departs from source: it learns from the quality of whole calls, not from a model of the children's times.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: stages and times left are in mean reductions. Limits: kKindCount kinds; beyond, the first or the last.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "neptune/base/ewma.h"
#include "neptune/world/random_source.h"

namespace neptune {

// The longest: a reduction that is not done in its stage costs its whole subtree, and of exponentially distributed ones
// two in a hundred take longer than four means.
inline constexpr std::array<double, 5> kStageLengths = {0.25, 0.5, 1, 2, 4};

class StageLearner {
 public:
  // What a call was given; comes back with its quality.
  struct Choice {
    size_t kind = 0;
    size_t stage = kStageLengths.size() - 1;
    double length() const { return kStageLengths[stage]; }
  };

  // For a call over `server_count` servers that has so much time. Nothing: the longest stages will do. Times of zero and
  // negative ones count as the shortest.
  std::optional<Choice> Choose(size_t server_count, double reductions_left,
                               RandomSource& random) const;
  // It ended with this quality, 0 to 1; 0 without an answer.
  void OnEnd(const Choice& choice, double quality);

 private:
  static constexpr size_t kKindCount = 32;
  // Trials of each length before the means are believed.
  static constexpr uint64_t kTrialCountMin = 4;
  static constexpr uint32_t kTrialOneIn = 32;
  // Means that differ by less count as alike; a mean so near to 1 as perfect.
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
