// A node's part in the cluster's membership: it announces itself, hears the announcements of others
// on a multicast group or in a directory, and keeps the view that results.
//
//   publisher ─► channel ─► listener of each node ─► view ─► clients of all loops
//                              ▲
//                              └─ answers to probes, corrections, exclusions
//
// Source: [Shen02] 2.2 (service yellow page, availability announcements).
// Invariant: the view is never null; it is empty until the first announcement is heard.
// Threads: View on any thread; Exclude and Quarantine on any loop; the rest on the control loop.
// Errors: Start: those of opening the channel, and of an announcement that is too large.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/membership/announcement.h"
#include "neptune/membership/announcement_channel.h"
#include "neptune/membership/availability_listener.h"
#include "neptune/membership/availability_publisher.h"
#include "neptune/node/node_metrics.h"
#include "neptune/node/node_runtime.h"
#include "neptune/node/node_security.h"

namespace neptune {

struct EtcdChannelOptions;

struct NodeOptions;

class NodeMembership {
 public:
  // Parts of the node; they outlive this.
  struct Environment {
    World& world;
    const NodeOptions& options;
    NodeRuntime& runtime;
    const NodeSecurity& security;
    MetricsRegistry& metrics;
    uint32_t address = 0;
  };
  struct Hooks {
    // Fills in the variable parts of an announcement: services, load, sections.
    std::function<void(Announcement*)> describe;
    // Sends a datagram from the node's probe endpoint.
    std::function<void(const Endpoint& to, std::string_view bytes)> send;
    // A task of an aggregation arrived by multicast.
    std::function<void(std::string_view bytes)> on_task;
  };
  explicit NodeMembership(const Environment& environment)
      : environment_(environment), view_(std::make_shared<YellowPageView>()) {}

  // Opens the channel, and announces the node from now on. `identity` has all endpoints.
  Status Start(Announcement identity, const NodeMetrics& counters, Hooks hooks);
  // Announces that the node is draining, and stops announcing.
  void Goodbye();

  // Brings the next announcement forward. Nothing happens before Start or while draining.
  void AnnounceSoon();
  // The encoded announcement. Errors: kUnavailable the node is starting.
  StatusOr<std::string> Current();
  // Handles bytes that arrived at the probe endpoint: an announcement or a correction.
  void Receive(std::string_view bytes);
  // The node cannot be reached: removes it from the view until it announces itself again.
  void Exclude(const NodeId& node);
  // The server at this endpoint leaves calls or polls unanswered: probes it.
  void Quarantine(const Endpoint& call_endpoint);
  // Sends a task of an aggregation to the endpoints, or to every node if there are none.
  void SendTask(const std::string& bytes, const std::vector<Endpoint>& to);

  std::shared_ptr<const YellowPageView> View() const;

 private:
  AvailabilityListener::Hooks ListenerHooks(const NodeId& self, const NodeMetrics& counters);
  Status OpenMulticast();
  Status OpenDirectory();
  // Reads the files that the spec names for the directory.
  Status LoadEtcdCredentials(EtcdChannelOptions* options) const;
  void SendTaskToAll(const std::string& bytes);
  void Adopt(std::shared_ptr<const YellowPageView> view);
  void Fill(Announcement* announcement);
  // Ends calls in flight to a server that no longer responds.
  void CloseConnections(const Endpoint& call_endpoint);

  const Environment environment_;
  Hooks hooks_;
  Counter* excluded_ = nullptr;
  bool draining_ = false;
  uint64_t cluster_ = 0;
  std::unique_ptr<AnnouncementChannel> channel_;
  // Multicast of tasks: the announcements' group, the next port. Null with a directory.
  std::unique_ptr<AnnouncementChannel> task_channel_;
  std::unique_ptr<AvailabilityListener> listener_;
  std::unique_ptr<AvailabilityPublisher> publisher_;
  mutable LeafMutex view_mutex_;
  std::shared_ptr<const YellowPageView> view_ ABSL_GUARDED_BY(view_mutex_);
};

}  // namespace neptune
