// What a scripted event does to a simulated host as a whole.
//
// Threads: the simulation's thread.

#pragma once

#include "neptune/world/sim/simulator.h"
#include "tools/workload/script.h"

namespace search::lab {

// Pauses, resumes, crashes, restarts or slows the host that the event names. False, and nothing done, if the event is
// about the conduct of its service instead.
bool ApplyToHost(const workload::ScriptEvent& event, neptune::Simulator& simulator);

}  // namespace search::lab
