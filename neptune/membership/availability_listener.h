// Keeps the node's yellow page from what it hears, confirms silences by probes, and hands out
// views.
//
// Source: dissertation 2.2, 2.4 (availability listener).
// Layer: membership.
// Threads: the loop's own; views are immutable and go to other loops by the subscriber's Post.
// Limits: views are handed out at most once each kViewInterval.

#pragma once

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "neptune/base/metrics.h"
#include "neptune/membership/service_yellow_page.h"
#include "neptune/world/world.h"

namespace neptune {

inline constexpr Duration kViewInterval = std::chrono::milliseconds(5);

// First byte of a datagram to a node's probe endpoint that asks it for its announcement.
inline constexpr char kProbeByte = 'P';

class AvailabilityListener {
 public:
  using Subscriber = absl::AnyInvocable<void(std::shared_ptr<const YellowPageView>)>;
  struct Hooks {
    // Sends `bytes` to a node's probe endpoint; the answer is given to Hear.
    absl::AnyInvocable<void(const Endpoint& to, std::string_view bytes)> send_probe;
    // A node was heard that was not known, or that has restarted.
    absl::AnyInvocable<void(const NodeId&)> on_new_node;
    // Called with each new view, on this loop.
    Subscriber on_view;
    // Announcements that were damaged or of another cluster, and nodes forgotten for their silence; may
    // be null.
    Counter* refused = nullptr;
    Counter* expired = nullptr;
  };

  AvailabilityListener(Loop& loop, uint64_t cluster, const YellowPageOptions& options, Hooks hooks);
  ~AvailabilityListener();

  // Takes the bytes of an announcement, heard on the channel or got as a probe's answer. Damaged
  // ones and those of other clusters are counted and dropped.
  void Hear(std::string_view bytes);
  void Exclude(const NodeId& node);

 private:
  void Changed();
  void Tend();
  void ScheduleTend();

  Loop& loop_;
  const uint64_t cluster_;
  ServiceYellowPage page_;
  Hooks hooks_;
  std::map<NodeId, uint64_t> incarnations_;
  TimerId tend_timer_ = 0;
  TimePoint tend_at_ = kNever;
  TimerId view_timer_ = 0;
};

}  // namespace neptune
