// Maintains the node's yellow page from received announcements, confirms silent nodes by probes,
// and publishes views.
//
// Source: [Shen02] 2.2, 2.4 (availability listener).
// Threads: the listener's loop only; views are immutable, and the subscriber posts them to other
//   loops.
// Limits: a view is published when the membership has changed, at most once per kViewInterval. The
//   interval grows with the number of nodes, because the cost of a view does. Load updates appear
//   in views already published.

#pragma once

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "neptune/base/metrics.h"
#include "neptune/membership/service_yellow_page.h"
#include "neptune/world/world.h"

namespace neptune {

inline constexpr Duration kViewInterval = std::chrono::milliseconds(5);
// Number of nodes that adds another kViewInterval between views.
inline constexpr size_t kNodesPerViewInterval = 64;

// First byte of a probe, a datagram that requests a node's announcement at its probe endpoint. A
// node that does not know who asks answers only probes that are as large as its announcement.
inline constexpr char kProbeByte = 'P';

class AvailabilityListener {
 public:
  using Subscriber = absl::AnyInvocable<void(std::shared_ptr<const YellowPageView>)>;
  struct Hooks {
    // Sends a probe or a correction to a node's probe endpoint; the answer is passed to
    // ReceiveAnswer.
    absl::AnyInvocable<void(const Endpoint& to, std::string_view bytes)> send;
    // A probe: kProbeByte, and zero bytes up to its size.
    std::string probe = std::string(1, kProbeByte);
    // Called when an unknown or restarted node announces itself.
    absl::AnyInvocable<void(const NodeId&)> on_new_node;
    // Called with each new view, on this loop.
    Subscriber on_view;
    // Called when the node at this call or control endpoint no longer responds; pending calls to it
    // should be ended.
    absl::AnyInvocable<void(const Endpoint&)> on_silent;
    // Count announcements that were damaged or of another cluster, nodes removed because they were
    // silent, and nodes excluded because they did not answer calls and probes; may be null.
    Counter* refused = nullptr;
    Counter* expired = nullptr;
    Counter* excluded = nullptr;
  };

  AvailabilityListener(Loop& loop, uint64_t cluster, const YellowPageOptions& options, Hooks hooks);
  ~AvailabilityListener();

  // Handles an announcement received on the channel. Damaged ones and those of other clusters are
  // counted and dropped.
  void Receive(std::string_view bytes) { Take(bytes, Via::kChannel); }
  // Handles an announcement received in answer to a probe.
  void ReceiveAnswer(std::string_view bytes) { Take(bytes, Via::kProbe); }
  void Exclude(const NodeId& node);
  // Probes the node at this endpoint, because calls to it are not answered.
  void Quarantine(const Endpoint& endpoint);

 private:
  void Take(std::string_view bytes, Via via);
  void Correct(const Announcement& announcement);
  // Schedules a new view after a change of membership.
  void ScheduleView();
  void Maintain();
  void HandleSilent(const ServiceYellowPage::Silent& silent);
  void ScheduleMaintenance(TimePoint next);

  Loop& loop_;
  const uint64_t cluster_;
  ServiceYellowPage page_;
  Hooks hooks_;
  TimerId maintenance_timer_ = 0;
  TimePoint maintenance_at_ = kNever;
  TimerId view_timer_ = 0;
  TimePoint view_at_ = kNever;
};

}  // namespace neptune
