// What a node tells the others about itself once a second, in one datagram.
//
// Source: [Shen02] 2.2, 2.4 (availability announcements within one Ethernet MTU, with CPU and
// I/O load). Departs from source: an announcement also carries an incarnation and a sequence
// number, so that one
//   that arrives late or twice changes nothing; and sections that higher layers fill.
// Bytes in, values out.
// Threads: immutable values and pure functions.
// Units: CPU and I/O load in thousandths of one processor and of the time; load index = queued +
// active
//   requests.
// Errors: kDataLoss a datagram that is not an announcement or is damaged; kResourceExhausted one
// that does
//   not fit.
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

// One service that the node hosts, with the partitions it holds.
struct HostedService {
  ServiceName service;
  // Version of the service's methods and messages; callers that need another one do not see it.
  uint16_t interface_version = 1;
  // Name of the implementation, for people.
  std::string implementation;
  std::vector<PartitionId> partitions;
  friend bool operator==(const HostedService&, const HostedService&) = default;
};

struct Announcement {
  // Clusters that share a multicast group ignore each other's announcements.
  uint64_t cluster = 0;
  NodeId node;
  // Larger for every start of the node; the same node with a larger one has restarted.
  uint64_t incarnation = 0;
  uint64_t sequence = 0;
  Endpoint call_endpoint;   // where calls are answered
  Endpoint probe_endpoint;  // where probes and load polls are answered
  Endpoint admin_endpoint;
  bool goodbye = false;   // the node leaves now
  bool draining = false;  // the node finishes what it has and takes nothing new
  uint32_t load_index = 0;
  uint16_t cpu_load_permille = 0;
  uint16_t io_load_permille = 0;
  std::vector<HostedService> services;
  // Bytes of higher layers by tag, for instance replica versions.
  std::map<uint8_t, std::string> sections;
  friend bool operator==(const Announcement&, const Announcement&) = default;
};

// A cluster's number from its name.
uint64_t ClusterNumber(std::string_view cluster_name);

// Tells a node that it is known under a larger incarnation than it announces.
struct Correction {
  uint64_t cluster = 0;
  NodeId node;
  uint64_t incarnation = 0;  // under which it is known
  friend bool operator==(const Correction&, const Correction&) = default;
};

std::string EncodeCorrection(const Correction& correction);
// Errors: kDataLoss the bytes are no correction, or damaged.
StatusOr<Correction> DecodeCorrection(std::string_view bytes);

// Of at most `size_max` bytes; fewer than kAnnouncementSizeMax where something is put around it on its way.
StatusOr<std::string> EncodeAnnouncement(const Announcement& announcement,
                                         size_t size_max = kAnnouncementSizeMax);
StatusOr<Announcement> DecodeAnnouncement(std::string_view bytes);

}  // namespace neptune
