#include "neptune/membership/availability_listener.h"

#include <glog/logging.h>

#include <utility>

namespace neptune {

AvailabilityListener::AvailabilityListener(Loop& loop, uint64_t cluster,
                                           const YellowPageOptions& options, Hooks hooks)
    : loop_(loop), cluster_(cluster), page_(options), hooks_(std::move(hooks)) {}

AvailabilityListener::~AvailabilityListener() {
  if (tend_timer_ != 0) loop_.CancelTimer(tend_timer_);
  if (view_timer_ != 0) loop_.CancelTimer(view_timer_);
}

void AvailabilityListener::Take(std::string_view bytes, Via via) {
  const StatusOr<Announcement> announcement = DecodeAnnouncement(bytes);
  if (!announcement.ok() || announcement->cluster != cluster_) {
    if (hooks_.refused != nullptr) hooks_.refused->Increment();
    return;
  }
  const News news = page_.Hear(*announcement, loop_.Now(), via);
  if (news == News::kNone) return Correct(*announcement);
  if (news == News::kNewNode) hooks_.on_new_node(announcement->node);
  ScheduleTend(page_.NextEventOf(announcement->node));
  if (news != News::kLoad) ScheduleView();
}

void AvailabilityListener::Correct(const Announcement& announcement) {
  const std::optional<uint64_t> known = page_.Outranks(announcement, loop_.Now());
  if (!known) return;
  hooks_.send(announcement.probe_endpoint, EncodeCorrection({cluster_, announcement.node, *known}));
}

void AvailabilityListener::Doubt(const Endpoint& call_endpoint) {
  // A call that was on its way to the node when it was excluded.
  if (page_.IsSilent(call_endpoint)) return hooks_.on_silent(call_endpoint);
  if (page_.Doubt(call_endpoint, loop_.Now())) ScheduleTend(page_.NextEvent());
}

void AvailabilityListener::Exclude(const NodeId& node) {
  if (!page_.Exclude(node, loop_.Now())) return;
  LOG(WARNING) << "node " << node << " cannot be reached; excluded until it is heard again";
  ScheduleTend(page_.NextEvent());
  ScheduleView();
}

void AvailabilityListener::ScheduleView() {
  const auto intervals = static_cast<int64_t>(1 + page_.node_count() / kNodesPerViewInterval);
  const TimePoint at = loop_.Now() + kViewInterval * intervals;
  if (at >= view_at_) return;
  if (view_timer_ != 0) loop_.CancelTimer(view_timer_);
  view_at_ = at;
  view_timer_ = loop_.RunAt(at, [this] {
    view_timer_ = 0;
    view_at_ = kNever;
    hooks_.on_view(page_.View());
  });
}

void AvailabilityListener::ScheduleTend(TimePoint next) {
  if (next == kNever || next >= tend_at_) return;
  if (tend_timer_ != 0) loop_.CancelTimer(tend_timer_);
  tend_at_ = next;
  tend_timer_ = loop_.RunAt(next, [this] {
    tend_timer_ = 0;
    tend_at_ = kNever;
    Tend();
  });
}

void AvailabilityListener::Tend() {
  const TimePoint now = loop_.Now();
  for (const ServiceYellowPage::Probe& probe : page_.Suspect(now)) {
    hooks_.send(probe.to, std::string_view(&kProbeByte, 1));
  }
  const std::vector<ServiceYellowPage::Silent> silent = page_.Expire(now);
  // What waits for a silent node and now tries again must not be sent there again.
  if (!silent.empty()) hooks_.on_view(page_.View());
  for (const ServiceYellowPage::Silent& node : silent) TakeSilent(node);
  ScheduleTend(page_.NextEvent());
}

void AvailabilityListener::TakeSilent(const ServiceYellowPage::Silent& silent) {
  if (silent.forgotten) {
    LOG(WARNING) << "node " << silent.node << " was not heard and did not answer; forgotten";
    if (hooks_.expired != nullptr) hooks_.expired->Increment();
  } else {
    LOG(WARNING) << "node " << silent.node << " answers nothing; excluded until it does";
    if (hooks_.excluded != nullptr) hooks_.excluded->Increment();
  }
  hooks_.on_silent(silent.call_endpoint);
}

}  // namespace neptune
