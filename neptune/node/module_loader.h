// Loads service modules from shared libraries.
//
// A module's name is the path of its library, or a plain name NAME, which is searched as NAME.so in
// the module folders. A library is never unloaded; a new version requires a new process.
//
// Source: [Shen02] 2.4 (service instances are dynamically linked libraries).
// Threads: thread-safe.
// Errors: kNotFound no such library; kFailedPrecondition it is not a module, or was built for
//   another interface version.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/service/service_module.h"

namespace neptune {

StatusOr<std::unique_ptr<ServiceModule>> LoadModule(const std::string& name,
                                                    const std::vector<std::string>& folders);

}  // namespace neptune
