// Loads service modules from shared libraries.
//
// A module's name is the path of its library, or a plain name NAME, which is searched as NAME.so in
// the module folders. A library is never unloaded; a new version requires a new process. It has all
// rights of the process, so others must not be able to change its file; who can change the folders
// on its path is not checked.
//
// Source: [Shen02] 2.4 (service instances are dynamically linked libraries).
// Threads: thread-safe.
// Errors: kNotFound no such library; kFailedPrecondition it is not a module, or was built for
//   another interface version, or its file may be written by everyone or belongs to a user other
//   than root and the one that loads it (root may load those of all users).

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/service/service_module.h"

namespace neptune {

// `spec_folder`: where a relative path starts.
StatusOr<std::unique_ptr<ServiceModule>> LoadModule(const std::string& name,
                                                    const std::vector<std::string>& folders,
                                                    const std::string& spec_folder);

}  // namespace neptune
