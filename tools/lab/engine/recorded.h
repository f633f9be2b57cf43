// The figures of a simulated run as a committed text, which a later run must repeat exactly: a
// change of behaviour is noticed on the day on which it happens.
//
//   row<TAB>poll 3 relative to ideal at 90 %<TAB>1.2214603862147503
//   point<TAB>policy=poll 3 load=0.9<TAB>4 metrics<TAB>8d1f0c3e5a77b216
//
// A row has the middle of its figure with all digits, or its observation; a point a digest of every
// metric of every run, so that a change shows even where no row does.
//
// Threads: pure functions.
// Limits: repeats on x86-64 processors with FMA and one version of the C library: its exp and log
//   differ in the last bit otherwise.

#pragma once

#include <string>
#include <string_view>

#include "tools/lab/engine/judgement.h"
#include "tools/lab/engine/results.h"

namespace search::lab {

std::string RecordedText(const Results& results, const Judgement& judgement);

// One line for each figure that is not as recorded, with the recorded and the present value; empty
// if there is none. Lines that begin with '#' are comments.
std::string DifferencesFrom(std::string_view recorded, std::string_view present);

}  // namespace search::lab
