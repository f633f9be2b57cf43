// The directory of live services, as soft state: nodes that stop announcing themselves are removed.
//
//              heard                silent 5 s                no answer to probes
//   unknown ──────────► alive ─────────────────► probed ────────────────────────────► forgotten
//              ▲          ▲  ▲──── heard or probe answered ───┘                            │
//              │          │                                                                │
//              └──────────┼────────────────────────────────────────────────────────────────┘
//                         ├── heard again ────── excluded ◄── connection failures reported
//                         └── probe answered ─── suspected, then excluded ◄── unanswered calls
//   goodbye: forgotten at once.
//
// Source: [Shen02] 2.2, 2.4 (yellow page; 5 s soft state; failing nodes excluded until heard
//   again).
// Departs from source: an expiry is confirmed by unicast probes. They are repeated, because
//   datagrams may be lost and lost datagrams must not remove healthy nodes. The number of probes
//   counts, not time alone: a listener that was itself suspended probes once more before it removes
//   a node. A node that does not answer calls is probed at once; only an answer clears it then,
//   announcements do not. A late announcement does not resurrect a node that has said goodbye.
// No I/O, no clock, no threads; AvailabilityListener drives it.
// Threads: thread-compatible; views may be shared. A view's nodes, replicas and their order never
//   change; the loads of its nodes are updated in place, so that the cost of a load update does not
//   depend on the number of nodes.
// Units: times are TimePoint.
// Limits: kNodeCountMax nodes; announcements of further nodes are ignored and counted. The same
//   number of departed nodes is remembered; the one that left first is evicted.

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
  // Time for which a silent node is probed before it is removed. Default: 500 ms, far above a
  // cluster's round trip, so that a dead node is removed within 5.5 s.
  Duration probe_timeout = std::chrono::milliseconds(500);
  // Time for which a suspected node is probed before it is excluded. Larger: tolerates busy nodes
  // longer, but a hung node is called longer. Default: 1 s, so that a hung node is excluded within
  // 2 s, and a call with three seconds reaches the third replica if it meets two hung ones first.
  Duration quarantine_timeout = std::chrono::milliseconds(1000);
  // Time between the probes of one node. Default: 25 ms; with three of ten datagrams lost, twenty
  // probes all fail once in 700,000 times. (Ten probes fail once in 800 times, which removed a
  // healthy node within ten minutes.)
  Duration probe_interval = std::chrono::milliseconds(25);
  // Time for which a goodbye is remembered; older announcements of the node are ignored meanwhile.
  Duration goodbye_memory = std::chrono::seconds(10);
};

// How an announcement arrived: on the channel, or as the answer to a probe of this node.
enum class Via { kChannel, kProbe };

// A node's last announcement, shared by views; replaced in place while announcements differ in
// loads only.
// Threads: thread-safe.
class AnnouncedNode {
 public:
  explicit AnnouncedNode(std::shared_ptr<const Announcement> first) : last_(std::move(first)) {}

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
  Endpoint call_endpoint;  // where this service is called: for a control service, the control one
  Endpoint probe_endpoint;
  uint16_t interface_version = 1;
  std::string implementation;
  std::shared_ptr<const AnnouncedNode> announced;

  uint32_t announced_load_index() const { return announced->load_index(); }
};

// A snapshot of the known nodes. Replicas are in order of node id.
class YellowPageView {
 public:
  using ServicePartition = std::pair<ServiceName, PartitionId>;

  // Returns the replicas that may be called; empty if none is known. Excludes draining, excluded
  // and departed nodes.
  const std::vector<Replica>& Replicas(const ServiceName& service, PartitionId partition) const;
  // Returns the partitions of a service that have a replica, ascending.
  std::vector<PartitionId> Partitions(const ServiceName& service) const;
  const std::map<ServicePartition, std::vector<Replica>>& all() const;
  // Returns a node's last announcement; null if the node was not known.
  std::shared_ptr<const Announcement> Find(const NodeId& node) const;
  // Returns the last announcement of every known node, in order of node id.
  std::vector<std::shared_ptr<const Announcement>> nodes() const;
  uint64_t version() const { return version_; }

 private:
  friend class ServiceYellowPage;
  struct Known {
    NodeId node;
    std::shared_ptr<const AnnouncedNode> announced;
    bool excluded = false;
  };
  std::vector<Known> nodes_;  // in order of node id
  uint64_t version_ = 0;
  // Built on first use, because most nodes of a large cluster call few services.
  mutable absl::once_flag is_sorted_;
  mutable std::map<ServicePartition, std::vector<Replica>> replicas_;
};

// The effect of an announcement.
enum class News {
  kNone,     // late or duplicate
  kLoad,     // loads changed; existing views show it
  kMembers,  // nodes or services changed; needs a new view
  kNewNode,  // as kMembers, by a node that is new or has restarted
};

class ServiceYellowPage {
 public:
  explicit ServiceYellowPage(const YellowPageOptions& options = {}) : options_(options) {}

  // Applies an announcement. An older incarnation or sequence, or a node beyond kNodeCountMax, has
  // no effect.
  News Receive(const Announcement& announcement, TimePoint now, Via via = Via::kChannel);

  // Returns the stored incarnation if it is not older than the announced one and its process is
  // dead, i.e. the node restarted with its clock set back.
  std::optional<uint64_t> Outranks(const Announcement& announcement, TimePoint now) const;

  // Reports that calls to this endpoint, for calls or control, are not answered. Returns true if
  // its node is to be probed now, and false if it was heard within a probe_interval or is being
  // probed already.
  bool Quarantine(const Endpoint& endpoint, TimePoint now);
  // True if the node of this endpoint was suspected, did not answer, and is excluded.
  bool IsSilent(const Endpoint& endpoint) const;

  struct Probe {
    NodeId node;
    Endpoint to;
  };
  // Returns the nodes to probe now.
  std::vector<Probe> Suspect(TimePoint now);

  struct Silent {
    NodeId node;
    Endpoint call_endpoint;
    bool forgotten = false;  // else excluded
    Endpoint control_endpoint{};
    friend bool operator==(const Silent&, const Silent&) = default;
  };
  // Removes or excludes the nodes that answered none of their probes. To be called after Suspect.
  std::vector<Silent> Expire(TimePoint now);
  // Returns the earliest time at which Suspect or Expire has work; kNever without nodes.
  TimePoint NextEvent() const;
  // The same for one node; kNever if it is not known.
  TimePoint NextEventOf(const NodeId& node) const;
  size_t node_count() const { return entries_.size(); }

  // Excludes a node, because connections to it keep failing, until it is heard again. Returns true
  // if it was not excluded before.
  bool Exclude(const NodeId& node, TimePoint now);

  std::shared_ptr<const YellowPageView> View() const;
  uint64_t ignored_count() const { return ignored_count_; }
  size_t departure_count() const { return departures_.size(); }

 private:
  struct Entry {
    std::shared_ptr<const Announcement> announcement;
    std::shared_ptr<AnnouncedNode> announced;
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
  std::map<NodeId, Entry>::const_iterator FindAt(const Endpoint& endpoint) const;
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
