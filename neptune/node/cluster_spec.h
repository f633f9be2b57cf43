// The cluster spec as read and checked: text in, a spec that can be trusted out.
//
// No I/O but reading the named file, and the capsule files that it names.
// Threads: pure functions.
// Errors: kInvalidArgument with file, line and reason (of a service or node, the line it begins at);
//   kNotFound the file does not exist.
// Limits: kClusterNodeCountMax nodes, kClusterPartitionCountMax partitions a service.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.pb.h"
#include "neptune/sert/time_limit.h"

namespace neptune {

inline constexpr int kClusterNodeCountMax = 8192;
inline constexpr uint32_t kClusterPartitionCountMax = 4096;

StatusOr<ClusterSpec> LoadClusterSpec(const std::string& path);
// `file` stands in the messages.
StatusOr<ClusterSpec> ParseClusterSpec(std::string_view text, std::string_view file);

// Fills in defaults and checks that everything named exists and every number is possible.
Status CompleteClusterSpec(ClusterSpec* spec);

// The node of that name; null if there is none.
const NodeSpec* FindNode(const ClusterSpec& spec, const NodeId& node);
const ServiceSpec* FindService(const ClusterSpec& spec, std::string_view service);

// Whether announcements go by way of a directory, not by multicast.
bool UsesDirectory(const ClusterSpec& spec);

// With the defaults for what it leaves out.
TimeLimitOptions TimeLimitOf(const TimeLimitSpec& spec);

// The parameters of a hosted service: the node's own win over the service's.
// REQUIRES: the service is in the spec.
std::map<std::string, std::string> EffectiveParameters(const ClusterSpec& spec,
                                                       const HostedServiceSpec& hosted);

// Sets or adds a parameter.
void SetParameter(std::string_view key, std::string_view value,
                  google::protobuf::RepeatedPtrField<Parameter>* parameters);

}  // namespace neptune
