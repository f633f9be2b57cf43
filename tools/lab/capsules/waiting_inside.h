// Services whose requests keep their place in the main pool while they wait, as in a thread pool
// without capsules: the baseline of the experiments with dependencies.
//
// Threads: those of the modules.

#pragma once

#include "neptune/node/node.h"

namespace search::lab {

// Returns a factory for the same modules; the methods of the service wait inside its pool.
neptune::ModuleFactory WaitInside(neptune::ModuleFactory modules, neptune::ServiceName service);

}  // namespace search::lab
