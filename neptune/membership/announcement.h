// The announcement that a node sends once a second, in one datagram: its services, load and
// endpoints.
//
// Source: [Shen02] 2.2, 2.4 (availability announcements within one Ethernet MTU, with CPU and I/O
//   load).
// Departs from source: an announcement also has an incarnation and a sequence number, so that late
//   and duplicate ones have no effect, and sections that higher layers fill.
// Bytes in, values out.
// Threads: immutable values and pure functions.
// Units: CPU and I/O load in thousandths of one processor and of the time; load index = queued +
//   active requests.
// Errors: kDataLoss a datagram that is not an announcement, is damaged, or names a node or service
//   that no cluster spec can name (plain_name.h); kResourceExhausted an
//   announcement that does not fit.
// Limits: kAnnouncementSizeMax bytes: an Ethernet frame's 1,500 less the IP and UDP headers.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/world/network.h"

namespace neptune {

inline constexpr size_t kAnnouncementSizeMax = 1472;

// One service that the node hosts, with its partitions.
struct HostedService {
  ServiceName service;
  // Version of the service's methods and messages; callers that need another version ignore it.
  uint16_t interface_version = 1;
  // Name of the implementation, for display.
  std::string implementation;
  std::vector<PartitionId> partitions;
  // Called at the node's control endpoint instead of its call endpoint.
  bool is_control = false;
  friend bool operator==(const HostedService&, const HostedService&) = default;
};

struct Announcement {
  // Clusters that share a multicast group ignore each other's announcements.
  uint64_t cluster = 0;
  NodeId node;
  // Increases with every start of the node; a larger one means that the node has restarted.
  uint64_t incarnation = 0;
  uint64_t sequence = 0;
  Endpoint call_endpoint;     // where calls are answered
  Endpoint control_endpoint;  // where calls of control services are answered
  Endpoint probe_endpoint;    // where probes and load polls are answered
  Endpoint admin_endpoint;
  bool goodbye = false;   // the node leaves now
  bool draining = false;  // the node finishes requests in flight and accepts no new ones
  uint32_t load_index = 0;
  uint16_t cpu_load_permille = 0;
  uint16_t io_load_permille = 0;
  std::vector<HostedService> services;
  // Opaque bytes of higher layers by tag, for example replica versions.
  std::map<uint8_t, std::string> sections;
  friend bool operator==(const Announcement&, const Announcement&) = default;
};

// Returns a cluster's number, derived from its name.
uint64_t ClusterNumber(std::string_view cluster_name);

// Notifies a node that it is known under a larger incarnation than it announces.
struct Correction {
  uint64_t cluster = 0;
  NodeId node;
  uint64_t incarnation = 0;  // the known one
  friend bool operator==(const Correction&, const Correction&) = default;
};

std::string EncodeCorrection(const Correction& correction);
// Errors: kDataLoss not a correction, or damaged.
StatusOr<Correction> DecodeCorrection(std::string_view bytes);

// Encodes in at most `size_max` bytes, which is less than kAnnouncementSizeMax if the announcement
// is sealed.
StatusOr<std::string> EncodeAnnouncement(const Announcement& announcement,
                                         size_t size_max = kAnnouncementSizeMax);
StatusOr<Announcement> DecodeAnnouncement(std::string_view bytes);

}  // namespace neptune
