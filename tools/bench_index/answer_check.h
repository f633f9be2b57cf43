// Checks that two engines give the same answers: compares the output of their programs for the same
// commands.
//
// Threads: pure functions.
// Shapes: a line for each command: `count<TAB>id:score ...`, `-` for a count that was not
//   requested, or UNSUPPORTED.
// Errors: INVALID_ARGUMENT names the malformed answer line, or reports that there are too few.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/bench_index/game_query.h"

namespace search::tools {

struct ClassAgreement {
  std::string command;
  QueryClass query_class = QueryClass::kTerm;
  size_t answered = 0;  // by both
  size_t counts = 0;    // given by both
  size_t equal_counts = 0;
  size_t equal_lengths = 0;  // lists with as many hits
  size_t hits = 0;           // of the peer
  size_t common_hits = 0;    // of those, in our list too
  // |ours / peer's - 1| at the same rank: median and largest.
  double score_difference_p50 = 0;
  double score_difference_max = 0;
  std::string first_difference;  // of counts or lengths: the query and both; empty if there is none

  // Compares every count and every list's length. Scores depend on each engine's constants and
  // lengths, those of phrases also on its definition of their frequency.
  bool Agrees() const { return equal_counts == counts && equal_lengths == answered; }
};

// Commands and classes in order of their first appearance. `commands` are the lines
// `COMMAND<TAB>query`.
neptune::StatusOr<std::vector<ClassAgreement>> CompareAnswers(std::string_view commands,
                                                              std::string_view ours,
                                                              std::string_view peer);

std::string FormatAgreement(const std::vector<ClassAgreement>& agreement);

}  // namespace search::tools
