// Reads the state of a node's services from its administration port, and changes it there.
//
//   GET /services                  ──► NodeServices
//   PUT /services/NAME/threads     ◄── ThreadSettings
//
// Threads: pure functions.
// Errors: kInvalidArgument text that is not such a state, with the missing part.
// Limits: kServiceCountMax services, kServiceClassCountMax classes each; larger states are refused.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/mtrr/saturation_monitor.h"

namespace search::tools {

inline constexpr size_t kServiceCountMax = 1000;
inline constexpr size_t kServiceClassCountMax = 1000;

struct ServiceClassState {
  neptune::ClassCounters counters;
  int busy_count = 0;
  int waiting_count = 0;
  int queue_length_max = 0;
};

struct ServiceState {
  std::string name;
  int concurrency = 0;
  int busy_count = 0;
  std::vector<ServiceClassState> classes;
};

struct NodeServices {
  std::vector<ServiceState> services;

  // Returns null if the node does not host the service.
  const ServiceState* Find(std::string_view service) const;
};

neptune::StatusOr<NodeServices> ParseServices(std::string_view json);

// Limits of concurrently executing long requests on one node, for a service and for its classes.
struct ThreadSettings {
  int concurrency = 0;
  std::map<std::string, int> classes;

  friend bool operator==(const ThreadSettings&, const ThreadSettings&) = default;
};

std::string ThreadSettingsJson(const ThreadSettings& settings);
// The current settings of a node; classes without threads of their own are omitted.
ThreadSettings SettingsOf(const ServiceState& state);

}  // namespace search::tools
