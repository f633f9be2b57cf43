// Service classes, from the cluster spec to what nodes schedule by.
//
// Source: [Shen02] 4.2, 4.4; [Jamjoom04] VI (threads).
// Threads: pure functions.
// Errors: kInvalidArgument with the class or service and the reason: names that are empty, there twice or unknown, a yield
//   that grows, shares over 1, threads over the concurrency.
// Limits: kServiceClassCountMax classes; kApiKeySizeMin to kApiKeySizeMax printable characters a key.

#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.pb.h"
#include "neptune/scheduling/class_rules.h"
#include "neptune/scheduling/class_threads.h"
#include "neptune/scheduling/scheduler_options.h"

namespace neptune {

inline constexpr size_t kApiKeySizeMin = 8;
inline constexpr size_t kApiKeySizeMax = 256;

// Fills in defaults of the classes. Errors: as above.
Status CompleteServiceClasses(ClusterSpec* spec);
// What the service says of classes and scheduling. REQUIRES: the classes and the service are complete.
Status CheckServiceScheduling(const ClusterSpec& spec, const ServiceSpec& service);

// REQUIRES for all: the spec is complete. `processor_count`: what the node can give a second.
SchedulerOptions SchedulerOptionsOf(const ClusterSpec& spec, const ServiceSpec& service,
                                    double processor_count);
ThreadShares ThreadSharesOf(const ClusterSpec& spec, const ServiceSpec& service);
std::vector<ClassRule> ClassRulesOf(const ClusterSpec& spec, const ServiceSpec& service);
// Of each key the name of its class.
std::map<std::string, std::string> ClassesOfApiKeys(const ClusterSpec& spec);

}  // namespace neptune
