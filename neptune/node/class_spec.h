// Converts the service classes of the cluster spec to scheduling options.
//
// Source: [Shen02] 4.2, 4.4; [Jamjoom04] VI (threads).
// Threads: pure functions.
// Errors: kInvalidArgument with the class or service and the reason: empty, duplicate or unknown
//   names, a yield that increases, shares over 1, threads over the concurrency.
// Limits: kServiceClassCountMax classes; kApiKeySizeMin to kApiKeySizeMax printable characters per
//   key.

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
// Checks the service's fields about classes and scheduling. REQUIRES: the classes and the service
// are complete.
Status CheckServiceScheduling(const ClusterSpec& spec, const ServiceSpec& service);

// REQUIRES for all functions below: the spec is complete. `processor_count`: processor seconds per
// second that the node has.
SchedulerOptions SchedulerOptionsOf(const ClusterSpec& spec, const ServiceSpec& service,
                                    double processor_count);
ThreadShares ThreadSharesOf(const ClusterSpec& spec, const ServiceSpec& service);
std::vector<ClassRule> ClassRulesOf(const ClusterSpec& spec, const ServiceSpec& service);
// Maps the ApiKeyHash of each API key to the name of its class.
std::map<std::string, std::string> ClassesOfApiKeyHashes(const ClusterSpec& spec);

}  // namespace neptune
