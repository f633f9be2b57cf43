// The directory of live services, kept as soft state: what is not announced again is forgotten.
//
//              heard                silent 5 s                no answer to probes
//   unknown ──────────► alive ─────────────────► suspected ─────────────────────────► forgotten
//              ▲          ▲  ▲──── heard or probe answered ────┘                           │
//              │          │                                                                │
//              │          └──── heard again ◄── excluded ◄── connection failures reported  │
//              └───────────────────────────────────────────────────────────────────────────┘
//   goodbye: forgotten at once.
//
// Source: dissertation 2.2, 2.4 (yellow page; 5 s soft state; failing nodes excluded until heard
// again).
// Departs from source: an expiry is confirmed by unicast probes, repeated because they are lost as
//   announcements are, and lost datagrams must not expel healthy nodes; a node that was said
//   goodbye to is not resurrected by a late announcement.
// Layer: membership, policy. No I/O, no clock, no threads; AvailabilityListener feeds it.
// Threads: thread-compatible; a View is immutable and may be shared.
// Units: times are TimePoint.
// Limits: kNodeCountMax nodes; announcements of further ones are ignored and counted. As many departed
//   nodes are remembered; the one that left first is forgotten for one more.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/membership/announcement.h"

namespace neptune {

inline constexpr size_t kNodeCountMax = 4096;

struct YellowPageOptions {
  // Silence after which a node is suspected. Default: 5 s, five announcements (dissertation 2.4).
  Duration expiry = std::chrono::seconds(5);
  // How long a suspected node has to answer one of its probes. Default: 500 ms, far above a cluster's
  // round trip, so that a dead node is forgotten within 5.5 s.
  Duration probe_timeout = std::chrono::milliseconds(500);
  // Time between the probes of one node. Default: 50 ms; with three of ten datagrams lost, ten probes
  // all fail one time in 800.
  Duration probe_interval = std::chrono::milliseconds(50);
  // How long a goodbye is remembered: older announcements of that node are ignored meanwhile.
  Duration goodbye_memory = std::chrono::seconds(10);
};

// One copy of a partition, on the node that hosts it.
struct Replica {
  NodeId node;
  Endpoint call_endpoint;
  Endpoint probe_endpoint;
  uint16_t interface_version = 1;
  std::string implementation;
  uint32_t announced_load_index = 0;
  TimePoint heard_at;
};

// What was known at one moment. Replicas are in order of node id.
class YellowPageView {
 public:
  using ServicePartition = std::pair<ServiceName, PartitionId>;

  // Replicas that may be called; empty if none is known. Draining, excluded and gone nodes are not
  // in it.
  const std::vector<Replica>& Replicas(const ServiceName& service, PartitionId partition) const;
  // Partitions of a service that have a replica, ascending.
  std::vector<PartitionId> Partitions(const ServiceName& service) const;
  // Every known node by id with its last announcement, for status pages.
  const std::map<NodeId, Announcement>& nodes() const { return nodes_; }
  const std::map<ServicePartition, std::vector<Replica>>& all() const { return replicas_; }
  uint64_t version() const { return version_; }

 private:
  friend class ServiceYellowPage;
  std::map<ServicePartition, std::vector<Replica>> replicas_;
  std::map<NodeId, Announcement> nodes_;
  uint64_t version_ = 0;
};

class ServiceYellowPage {
 public:
  explicit ServiceYellowPage(const YellowPageOptions& options = {}) : options_(options) {}

  // Takes an announcement. True if anything that a View shows has changed; the load index always
  // counts. An announcement of an older incarnation or sequence, or beyond kNodeCountMax, changes
  // nothing.
  bool Hear(const Announcement& announcement, TimePoint now);

  struct Probe {
    NodeId node;
    Endpoint to;
  };
  // Nodes that are suspected: each is to be probed now.
  std::vector<Probe> Suspect(TimePoint now);
  // Forgets suspected nodes whose probe was not answered in time; returns them.
  std::vector<NodeId> Expire(TimePoint now);
  // The earliest time at which Suspect or Expire has something to do; kNever without nodes.
  TimePoint NextEvent() const;

  // Connections to a node keep failing: it is not offered again until it is heard again.
  // True if it was offered before.
  bool Exclude(const NodeId& node, TimePoint now);

  std::shared_ptr<const YellowPageView> View() const;
  uint64_t ignored_count() const { return ignored_count_; }
  size_t departure_count() const { return departures_.size(); }

 private:
  struct Entry {
    Announcement announcement;
    TimePoint heard_at;
    bool suspected = false;
    TimePoint probe_deadline{};
    TimePoint next_probe{};
    bool excluded = false;
  };
  struct Departure {
    uint64_t incarnation;
    TimePoint at;
  };
  void Remember(const NodeId& node, const Departure& departure);
  bool IsLate(const Announcement& announcement, TimePoint now);

  const YellowPageOptions options_;
  std::map<NodeId, Entry> entries_;
  std::map<NodeId, Departure> departures_;
  uint64_t version_ = 0;
  uint64_t ignored_count_ = 0;
};

}  // namespace neptune
