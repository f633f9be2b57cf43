// Applies scripted events to simulated hosts.
//
// Threads: the simulation's thread.

#pragma once

#include "neptune/world/sim/simulator.h"
#include "tools/workload/script.h"

namespace search::lab {

// Pauses, resumes, crashes, restarts or slows the host that the event names. Returns false, without
// effect, if the event concerns the behaviour of its service instead.
bool ApplyToHost(const workload::ScriptEvent& event, neptune::Simulator& simulator);

}  // namespace search::lab
