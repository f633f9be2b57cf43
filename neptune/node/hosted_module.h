// The module of a hosted service with its parameters set, and the check of all modules of a spec.
//
// Threads: MakeHostedModule from any thread; CheckModules before the program creates a thread,
//   because it forks.
// Errors: kInvalidArgument names the service, the parameter, and its limits or the names that
//   exist; those of the factory; CheckModules: kNotFound a module cannot be loaded.

#pragma once

#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/service/service_module.h"

namespace neptune {

// Returns the name of the module that implements the service there.
const std::string& ModuleOf(const ClusterSpec& spec, const HostedServiceSpec& hosted);

// Creates the module and sets its parameters; it can be started.
StatusOr<std::unique_ptr<ServiceModule>> MakeHostedModule(const ClusterSpec& spec,
                                                          const HostedServiceSpec& hosted,
                                                          const ModuleFactory& modules);

// Checks the parameters of each service on each node. Each module is loaded in a child process of
// its own, because two versions of one library cannot be loaded into the same process.
// A node itself checks only what it hosts: a machine may lack the modules of other nodes, or have
// other versions of them.
Status CheckModules(const ClusterSpec& spec, const ModuleFactory& modules);

}  // namespace neptune
