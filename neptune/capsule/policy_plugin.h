// Loads policies from shared libraries; policy_plugin_abi.h defines their interface.
//
// Source: [Chu05] IV.D (plug-in scheduling module).
// Threads: LoadPolicyPlugin blocks while the library loads; the policy is thread-compatible.
// Errors: kNotFound the library cannot be loaded; kInvalidArgument it is not a plug-in of this
//   version, lacks a callback, or refuses its parameters.

#pragma once

#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "neptune/capsule/capsule_policy.h"

namespace neptune {

StatusOr<std::unique_ptr<CapsulePolicy>> LoadPolicyPlugin(const std::string& library,
                                                          const std::string& parameters);

}  // namespace neptune
