// The state of the capsules as a table for people and simple programs.
//
//   capsule   residents  waiting  entered  done  failed  timed_out  refused  bypassed  ...  tail_ms
//   replica-1         3        0      120   100       0         17        5         0  ...     40.2
//
// Threads: a pure function.
// Units: times are recent times inside a capsule; the rest are counts.

#pragma once

#include <string>
#include <vector>

#include "neptune/capsule/capsule_stack.h"

namespace neptune::interpose {

// One line of column names, then one line per capsule, the top of the stack first; columns are
// separated by spaces.
std::string StatusText(const std::vector<CapsuleReport>& reports);

}  // namespace neptune::interpose
