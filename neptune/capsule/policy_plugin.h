// Policies from shared libraries; policy_plugin_abi.h says what such a library is.
//
// Source: [Chu05] IV.D (plug-in scheduling module).
// Threads: LoadPolicyPlugin blocks for as long as the library takes to load; the policy is thread-compatible.
// Errors: kNotFound no such library; kInvalidArgument it is no plug-in of this version, lacks a callback, or refuses
//   its parameters.

#pragma once

#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "neptune/capsule/capsule_policy.h"

namespace neptune {

StatusOr<std::unique_ptr<CapsulePolicy>> LoadPolicyPlugin(const std::string& library,
                                                          const std::string& parameters);

}  // namespace neptune
