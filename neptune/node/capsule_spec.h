// Dependency capsules as a cluster spec defines them.
//
// Threads: pure functions.
// Errors: kInvalidArgument "capsule 'NAME': reason" of the first mistake.
// Limits: kCapsuleCountMax capsules.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/capsule/capsule_config.h"
#include "neptune/node/cluster_spec.pb.h"

namespace neptune {

using CapsuleSpecs = google::protobuf::RepeatedPtrField<CapsuleSpec>;

// Returns the capsules, the top of the stack first. `folder`: base of relative paths of plug-ins;
// empty: paths are not changed. On an error, *index is that of the wrong capsule, if it is not
// null.
StatusOr<std::vector<CapsuleConfig>> CapsulesOfSpec(const CapsuleSpecs& specs,
                                                    const std::string& folder,
                                                    int* index = nullptr);

}  // namespace neptune
