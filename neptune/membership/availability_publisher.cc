#include "neptune/membership/availability_publisher.h"

#include <glog/logging.h>

#include <limits>
#include <utility>

#include "neptune/world/random_source.h"

namespace neptune {

AvailabilityPublisher::AvailabilityPublisher(Loop& loop, AnnouncementChannel& channel,
                                             Announcement identity, Source source,
                                             const PublisherOptions& options)
    : loop_(loop),
      channel_(channel),
      announcement_(std::move(identity)),
      source_(std::move(source)),
      options_(options) {}

AvailabilityPublisher::~AvailabilityPublisher() {
  if (timer_ != 0) loop_.CancelTimer(timer_);
}

void AvailabilityPublisher::Start() { Announce(); }

StatusOr<std::string> AvailabilityPublisher::Current() {
  ++announcement_.sequence;
  announcement_.services.clear();
  announcement_.sections.clear();
  source_(&announcement_);
  return EncodeAnnouncement(announcement_, options_.size_max);
}

void AvailabilityPublisher::Announce() {
  timer_ = 0;
  timer_at_ = kNever;
  const StatusOr<std::string> bytes = Current();
  if (bytes.ok()) {
    channel_.Publish(*bytes);
  } else {
    LOG(ERROR) << bytes.status();
  }
  // Uniform between half and one and a half intervals, so that the nodes do not synchronise
  // (3.2.2).
  const auto interval = static_cast<uint64_t>(options_.interval.count());
  Schedule(options_.interval / 2 + Duration(loop_.random().Below(interval + 1)));
}

void AvailabilityPublisher::Schedule(Duration delay) {
  const TimePoint when = loop_.Now() + delay;
  if (ended_ || when >= timer_at_) return;
  if (timer_ != 0) loop_.CancelTimer(timer_);
  timer_at_ = when;
  timer_ = loop_.RunAt(when, [this] { Announce(); });
}

void AvailabilityPublisher::AnnounceSoon() {
  // Random delay, because many nodes receive the announcement of a new node at the same moment.
  const auto spread = static_cast<uint64_t>(kIntroductionDelayMax.count());
  Schedule(Duration(loop_.random().Below(spread)) + kIntroductionDelayMax / 10);
}

void AvailabilityPublisher::Outrank(uint64_t known_incarnation) {
  if (ended_ || known_incarnation < announcement_.incarnation ||
      known_incarnation == std::numeric_limits<uint64_t>::max()) {
    return;
  }
  LOG(WARNING) << "node " << announcement_.node
               << " is known under a later incarnation; was its clock set back?";
  announcement_.incarnation = known_incarnation + 1;
  AnnounceSoon();
}

void AvailabilityPublisher::Goodbye() {
  if (std::exchange(ended_, true)) return;
  if (timer_ != 0) loop_.CancelTimer(std::exchange(timer_, 0));
  announcement_.goodbye = true;
  if (const StatusOr<std::string> bytes = Current(); bytes.ok()) {
    // Sent twice, because a lost goodbye costs the other nodes five seconds of failed connections.
    channel_.Publish(*bytes);
    channel_.Publish(*bytes);
  }
}

}  // namespace neptune
