// The directory of live services, kept as soft state: what is not announced again is forgotten.
//
//              heard                silent 5 s                no answer to probes
//   unknown ──────────► alive ─────────────────► probed ────────────────────────────► forgotten
//              ▲          ▲  ▲──── heard or probe answered ───┘                            │
//              │          │                                                                │
//              └──────────┼────────────────────────────────────────────────────────────────┘
//                         ├── heard again ────── excluded ◄── connection failures reported
//                         └── probe answered ─── doubted, then excluded ◄── calls without answers reported
//   goodbye: forgotten at once.
//
// Source: [Shen02] 2.2, 2.4 (yellow page; 5 s soft state; failing nodes excluded until heard
// again).
// Departs from source: an expiry is confirmed by unicast probes, repeated because they are lost as
//   announcements are, and lost datagrams must not expel healthy nodes. Probes count, not time alone: a
//   listener that stood still itself asks once more before it forgets. A node that leaves calls without
//   answers is probed at once; that it announces itself does not help it then, only an answer does. A
//   node that was said goodbye to is not resurrected by a late announcement.
// No I/O, no clock, no threads; AvailabilityListener feeds it.
// Threads: thread-compatible; views may be shared. A view's nodes, replicas and their places never change; how busy its
//   nodes are is renewed while it is in use, so that news of loads cost nothing but themselves however many nodes there
//   are.
// Units: times are TimePoint.
// Limits: kNodeCountMax nodes; announcements of further ones are ignored and counted. As many departed
//   nodes are remembered; the one that left first is forgotten for one more.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/call_once.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"
#include "neptune/membership/announcement.h"

namespace neptune {

inline constexpr size_t kNodeCountMax = 8192;

struct YellowPageOptions {
  // Silence after which a node is suspected. Default: 5 s, five announcements ([Shen02] 2.4).
  Duration expiry = std::chrono::seconds(5);
  // How long a silent node is probed before it is forgotten. Default: 500 ms, far above a cluster's
  // round trip, so that a dead node is forgotten within 5.5 s.
  Duration probe_timeout = std::chrono::milliseconds(500);
  // How long a doubted node is probed before it is excluded. Larger: a busy node is left alone longer, a
  // hung one is called longer. Default: 1 s, so that a hung node is out within 2 s, and a call with three
  // seconds finds the third replica when two hang that it meets one after the other.
  Duration quarantine_timeout = std::chrono::milliseconds(1000);
  // Time between the probes of one node. Default: 25 ms; with three of ten datagrams lost, twenty probes
  // all fail one time in 700,000. (Ten did one time in 800, and in ten minutes somebody was expelled.)
  Duration probe_interval = std::chrono::milliseconds(25);
  // How long a goodbye is remembered: older announcements of that node are ignored meanwhile.
  Duration goodbye_memory = std::chrono::seconds(10);
};

// How an announcement came: to everybody, or to this node as the answer to its probe.
enum class Via { kChannel, kProbe };

// A node and what it announced last, of announcements that differ in nothing but how busy it is.
// Threads: thread-safe.
class HeardNode {
 public:
  explicit HeardNode(std::shared_ptr<const Announcement> first) : last_(std::move(first)) {}

  std::shared_ptr<const Announcement> last() const {
    LeafLock lock(&mutex_);
    return last_;
  }
  uint32_t load_index() const {
    LeafLock lock(&mutex_);
    return last_->load_index;
  }
  void Renew(std::shared_ptr<const Announcement> last) {
    LeafLock lock(&mutex_);
    last_.swap(last);
  }

 private:
  mutable LeafMutex mutex_;
  std::shared_ptr<const Announcement> last_;
};

// One copy of a partition, on the node that hosts it.
struct Replica {
  NodeId node;
  Endpoint call_endpoint;
  Endpoint probe_endpoint;
  uint16_t interface_version = 1;
  std::string implementation;
  std::shared_ptr<const HeardNode> heard;

  uint32_t announced_load_index() const { return heard->load_index(); }
};

// Who was known at one moment. Replicas are in order of node id.
class YellowPageView {
 public:
  using ServicePartition = std::pair<ServiceName, PartitionId>;

  // Replicas that may be called; empty if none is known. Draining, excluded and gone nodes are not
  // in it.
  const std::vector<Replica>& Replicas(const ServiceName& service, PartitionId partition) const;
  // Partitions of a service that have a replica, ascending.
  std::vector<PartitionId> Partitions(const ServiceName& service) const;
  const std::map<ServicePartition, std::vector<Replica>>& all() const;
  // What a known node announced last; null if it was not known.
  std::shared_ptr<const Announcement> Find(const NodeId& node) const;
  // What every known node announced last, in order of node id.
  std::vector<std::shared_ptr<const Announcement>> nodes() const;
  uint64_t version() const { return version_; }

 private:
  friend class ServiceYellowPage;
  struct Known {
    NodeId node;
    std::shared_ptr<const HeardNode> heard;
    bool excluded = false;
  };
  std::vector<Known> nodes_;  // in order of node id
  uint64_t version_ = 0;
  // Made when it is first asked for: most nodes of a large cluster call few.
  mutable absl::once_flag is_sorted_;
  mutable std::map<ServicePartition, std::vector<Replica>> replicas_;
};

// What an announcement tells.
enum class News {
  kNone,     // it came late, or twice
  kLoad,     // how busy a node is; views in use show it
  kMembers,  // who may be called, or for what: a new view shows it
  kNewNode,  // the same, by a node that was not known, or has restarted
};

class ServiceYellowPage {
 public:
  explicit ServiceYellowPage(const YellowPageOptions& options = {}) : options_(options) {}

  // Takes an announcement. One of an older incarnation or sequence, or beyond kNodeCountMax, changes nothing.
  News Hear(const Announcement& announcement, TimePoint now, Via via = Via::kChannel);

  // The incarnation under which the announcing node is known, if it is not smaller than the announced one
  // and nobody lives under it any more: the node has restarted with its clock set back.
  std::optional<uint64_t> Outranks(const Announcement& announcement, TimePoint now) const;

  // Calls to this endpoint stay without answers. True if its node is to be probed now; not if it was
  // heard within a probe_interval, or is probed already.
  bool Quarantine(const Endpoint& call_endpoint, TimePoint now);
  // Whether the node of this endpoint was doubted, answered nothing, and is excluded.
  bool IsSilent(const Endpoint& call_endpoint) const;

  struct Probe {
    NodeId node;
    Endpoint to;
  };
  // Nodes that are to be probed now.
  std::vector<Probe> Suspect(TimePoint now);

  struct Silent {
    NodeId node;
    Endpoint call_endpoint;
    bool forgotten = false;  // else excluded
    friend bool operator==(const Silent&, const Silent&) = default;
  };
  // Forgets or excludes the nodes that answered none of their probes. To be called after Suspect.
  std::vector<Silent> Expire(TimePoint now);
  // The earliest time at which Suspect or Expire has something to do; kNever without nodes.
  TimePoint NextEvent() const;
  // The same of one node; kNever if it is not known.
  TimePoint NextEventOf(const NodeId& node) const;
  size_t node_count() const { return entries_.size(); }

  // Connections to a node keep failing: it is not offered again until it is heard again.
  // True if it was offered before.
  bool Exclude(const NodeId& node, TimePoint now);

  std::shared_ptr<const YellowPageView> View() const;
  uint64_t ignored_count() const { return ignored_count_; }
  size_t departure_count() const { return departures_.size(); }

 private:
  struct Entry {
    std::shared_ptr<const Announcement> announcement;
    std::shared_ptr<HeardNode> heard;
    TimePoint heard_at;
    bool probed = false;
    int64_t probes_left = 0;
    TimePoint next_probe{};
    bool quarantined = false;
    bool excluded = false;

    void Probe(int64_t count, TimePoint now) {
      probed = true;
      probes_left = count;
      next_probe = now;
    }
  };
  struct Departure {
    uint64_t incarnation;
    TimePoint at;
  };
  void Remember(const NodeId& node, const Departure& departure);
  bool IsLate(const Announcement& announcement, TimePoint now);
  std::map<NodeId, Entry>::const_iterator FindAt(const Endpoint& call_endpoint) const;
  TimePoint NextEventOf(const Entry& entry) const {
    return entry.probed ? entry.next_probe : entry.heard_at + options_.expiry;
  }
  News Renew(Entry& entry, const Announcement& announcement, TimePoint now, Via via);
  int64_t ProbesIn(Duration time) const {
    return std::max<int64_t>(1, time / options_.probe_interval);
  }

  const YellowPageOptions options_;
  std::map<NodeId, Entry> entries_;
  std::map<NodeId, Departure> departures_;
  uint64_t version_ = 0;
  uint64_t ignored_count_ = 0;
};

}  // namespace neptune
