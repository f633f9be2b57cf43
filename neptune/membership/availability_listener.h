// Keeps the node's yellow page from what it hears, confirms silences by probes, and hands out
// views.
//
// Source: [Shen02] 2.2, 2.4 (availability listener).
// Threads: the loop's own; views are immutable and go to other loops by the subscriber's Post.
// Limits: views are handed out when who is there has changed, at most once each kViewInterval; less often the more nodes
//   there are, for a view costs as much as it has nodes. News of loads are in the views already handed out.

#pragma once

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "neptune/base/metrics.h"
#include "neptune/membership/service_yellow_page.h"
#include "neptune/world/world.h"

namespace neptune {

inline constexpr Duration kViewInterval = std::chrono::milliseconds(5);
// So many nodes add another kViewInterval between views.
inline constexpr size_t kNodesPerViewInterval = 64;

// First byte of a datagram to a node's probe endpoint that asks it for its announcement.
inline constexpr char kProbeByte = 'P';

class AvailabilityListener {
 public:
  using Subscriber = absl::AnyInvocable<void(std::shared_ptr<const YellowPageView>)>;
  struct Hooks {
    // Sends a probe or a correction to a node's probe endpoint; the answer is given to HearAnswer.
    absl::AnyInvocable<void(const Endpoint& to, std::string_view bytes)> send;
    // A node was heard that was not known, or that has restarted.
    absl::AnyInvocable<void(const NodeId&)> on_new_node;
    // Called with each new view, on this loop.
    Subscriber on_view;
    // A node at this call endpoint answers nothing any more; what waits for it waits in vain.
    absl::AnyInvocable<void(const Endpoint&)> on_silent;
    // Announcements that were damaged or of another cluster, nodes forgotten for their silence, and nodes
    // excluded because they leave calls and probes without answers; may be null.
    Counter* refused = nullptr;
    Counter* expired = nullptr;
    Counter* excluded = nullptr;
  };

  AvailabilityListener(Loop& loop, uint64_t cluster, const YellowPageOptions& options, Hooks hooks);
  ~AvailabilityListener();

  // Takes the bytes of an announcement heard on the channel. Damaged ones and those of other clusters are
  // counted and dropped.
  void Hear(std::string_view bytes) { Take(bytes, Via::kChannel); }
  // The same of one that answers a probe.
  void HearAnswer(std::string_view bytes) { Take(bytes, Via::kProbe); }
  void Exclude(const NodeId& node);
  // Calls to this endpoint stay without answers: its node is probed.
  void Quarantine(const Endpoint& call_endpoint);

 private:
  void Take(std::string_view bytes, Via via);
  void Correct(const Announcement& announcement);
  // Who is there has changed.
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
