// Tells the cluster once a second what this node offers, answers probes, and says goodbye.
//
// Source: [Shen02] 2.2, 2.4 (availability publisher; one announcement a second).
// Departs from source: hearing a node for the first time brings the next announcement forward, so
// that a
//   joining node knows the cluster within kIntroductionDelayMax; probes are answered by
//   announcements.
// Threads: the loop's own.
// Limits: at most one announcement each kIntroductionDelayMax.

#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "neptune/membership/announcement.h"
#include "neptune/membership/announcement_channel.h"

namespace neptune {

inline constexpr Duration kIntroductionDelayMax = std::chrono::milliseconds(100);

struct PublisherOptions {
  // Mean time between announcements; each is drawn evenly from half to one and a half of it. Smaller: faster detection, more messages. Default: 1 s (2.4).
  Duration interval = std::chrono::seconds(1);
  // Largest announcement. Default: what one datagram carries; less where it is sealed.
  size_t size_max = kAnnouncementSizeMax;
};

class AvailabilityPublisher {
 public:
  // Fills in what changes: services, load, flags. A service that makes no progress is left out.
  using Source = absl::AnyInvocable<void(Announcement*)>;

  // `identity` gives cluster, node, incarnation and endpoints; `channel` outlives the publisher.
  AvailabilityPublisher(Loop& loop, AnnouncementChannel& channel, Announcement identity,
                        Source source, const PublisherOptions& options);
  ~AvailabilityPublisher();

  // Announces now, and from now on.
  void Start();
  // Announces soon; for a change worth telling and for nodes that are new.
  void AnnounceSoon();
  // Tells everybody that the node leaves; announces nothing more.
  void Goodbye();
  // The cluster knows this node under `known_incarnation`, from a life before its clock was set back: it
  // takes a larger one, and announces it soon.
  void Outrank(uint64_t known_incarnation);
  // The current announcement as bytes, as an answer to a probe.
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
