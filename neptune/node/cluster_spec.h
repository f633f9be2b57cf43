// Parses and validates the cluster spec.
//
// No I/O except reading the named file, and the capsule files that it names.
// Threads: pure functions.
// Errors: kInvalidArgument with file, line and reason (for an error in a service or node, the line
//   where that begins); kNotFound the file does not exist.
// Limits: kClusterNodeCountMax nodes, kClusterPartitionCountMax partitions per service.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.pb.h"

namespace neptune {

struct TimeLimitOptions;

inline constexpr int kClusterNodeCountMax = 8192;
inline constexpr uint32_t kClusterPartitionCountMax = 4096;
// Bounds of a node's budgets.
inline constexpr uint32_t kMemoryBudgetMibMin = 64;
inline constexpr uint32_t kMemoryBudgetMibMax = 1 << 24;
inline constexpr uint32_t kConnectionLimitMin = 16;
inline constexpr uint32_t kConnectionLimitMax = 1 << 20;
inline constexpr uint32_t kDiskReserveMibMax = 1 << 24;

// Value of ClusterSpec::admin_access that trusts the network; the other one is "local".
inline constexpr char kAdminAccessNetwork[] = "network";

StatusOr<ClusterSpec> LoadClusterSpec(const std::string& path);
// `file` is the file name in error messages.
StatusOr<ClusterSpec> ParseClusterSpec(std::string_view text, std::string_view file);

// Fills in defaults; checks that all references exist and all numbers are in range.
Status CompleteClusterSpec(ClusterSpec* spec);

// Returns the node of that name; null if there is none.
const NodeSpec* FindNode(const ClusterSpec& spec, const NodeId& node);
const ServiceSpec* FindService(const ClusterSpec& spec, std::string_view service);

// The threads that run long requests. REQUIRES: the spec is complete.
uint32_t WorkingThreadsOf(const NodeSpec& node);

// True if announcements use a directory instead of multicast.
bool UsesDirectory(const ClusterSpec& spec);

// Converts the spec, with defaults for unset fields.
TimeLimitOptions TimeLimitOf(const TimeLimitSpec& spec);

// Returns the parameters of a hosted service; the node's own override the service's.
// REQUIRES: the service is in the spec.
std::map<std::string, std::string> EffectiveParameters(const ClusterSpec& spec,
                                                       const HostedServiceSpec& hosted);

// Sets or adds a parameter.
void SetParameter(std::string_view key, std::string_view value,
                  google::protobuf::RepeatedPtrField<Parameter>* parameters);

}  // namespace neptune
