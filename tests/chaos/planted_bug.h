// Bugs planted on purpose: a chaos test that does not find each of them proves nothing.
//
// None is in the product's code: they are options no cluster would have, faults of the test's own
// modules, or messages that are changed on their way.
//
// Source: style guide (a canary with a planted bug must fail).
// Threads: the simulation's thread.

#pragma once

#include <string>
#include <vector>

#include "neptune/testing/simulated_cluster.h"

namespace neptune::chaos {

enum class PlantedBug {
  kNone,
  // Bugs of the modules.
  kSharedAnswer,         // state that all requests share is read after a wait
  kWriteTwice,           // some writes are done twice
  kIgnoredCancellation,  // work continues after its caller is gone
  // Bugs of the options.
  kHastyExpiry,  // one lost announcement is enough to forget a node
  kNoExpiry,     // dead nodes are never forgotten
  kLongQueue,    // the queue has no bound
  kManyAtOnce,   // all requests run at once
  // Bugs of the messages.
  kSwappedAnswers,     // some answers carry the payload of the answer before
  kLostAnswers,        // some answers are not sent
  kSilentGoodbye,      // no goodbye is sent
  kLostProbes,         // probes are not sent
  kFrozenSequence,     // announcements carry old sequence numbers
  kForgottenDeadline,  // requests have ten seconds more, and cancellations are lost
};

std::vector<PlantedBug> AllPlantedBugs();
const char* NameOf(PlantedBug bug);
// kNone for a name that no bug has.
PlantedBug PlantedBugOf(std::string_view name);

// Changes options or messages as the bug wants; bugs of modules change nothing here.
void PlantInOptions(PlantedBug bug, SimulatedClusterOptions* options);
void PlantInMessages(PlantedBug bug, Simulator& simulator);

}  // namespace neptune::chaos
