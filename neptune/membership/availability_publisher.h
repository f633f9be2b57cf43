// Announces the node's services once a second, answers probes, and announces its departure.
//
// Source: [Shen02] 2.2, 2.4 (availability publisher; one announcement per second).
// Departs from source: a new node triggers an early announcement, so that it learns the cluster
//   within kIntroductionDelayMax; probes are answered with announcements.
// Threads: the publisher's loop only.
// Limits: at most one announcement per kIntroductionDelayMax.

#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "neptune/membership/announcement.h"
#include "neptune/membership/announcement_channel.h"

namespace neptune {

inline constexpr Duration kIntroductionDelayMax = std::chrono::milliseconds(100);

struct PublisherOptions {
  // Mean time between announcements; each interval is drawn uniformly from half to one and a half
  // of it. Smaller: faster detection, more messages. Default: 1 s (2.4).
  Duration interval = std::chrono::seconds(1);
  // Maximum size of an announcement. Default: that of one datagram; less if announcements are
  // sealed.
  size_t size_max = kAnnouncementSizeMax;
};

class AvailabilityPublisher {
 public:
  // Fills in the variable parts: services, load, flags. A service that makes no progress is
  // omitted.
  using Source = absl::AnyInvocable<void(Announcement*)>;

  // `identity` has cluster, node, incarnation and endpoints; `channel` outlives the publisher.
  AvailabilityPublisher(Loop& loop, AnnouncementChannel& channel, Announcement identity,
                        Source source, const PublisherOptions& options);
  ~AvailabilityPublisher();

  // Announces now, and periodically from now on.
  void Start();
  // Brings the next announcement forward, after an important change or for a new node.
  void AnnounceSoon();
  // Announces that the node leaves, and stops announcing.
  void Goodbye();
  // Handles a correction: the cluster knows this node under `known_incarnation`, from before its
  // clock was set back. Takes a larger incarnation, and announces it soon.
  void Outrank(uint64_t known_incarnation);
  // Returns the encoded current announcement, the answer to a probe.
  StatusOr<std::string> Current();

 private:
  void Announce();
  void Schedule(Duration delay);

  Loop& loop_;
  AnnouncementChannel& channel_;
  Announcement announcement_;
  Source source_;
  const PublisherOptions options_;
  TimerId timer_ = 0;
  TimePoint timer_at_ = kNever;
  bool ended_ = false;
};

}  // namespace neptune
