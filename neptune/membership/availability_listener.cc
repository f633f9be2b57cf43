#include "neptune/membership/availability_listener.h"

#include <glog/logging.h>

#include <utility>

namespace neptune {

AvailabilityListener::AvailabilityListener(Loop& loop, uint64_t cluster,
                                           const YellowPageOptions& options, Hooks hooks)
    : loop_(loop), cluster_(cluster), page_(options), hooks_(std::move(hooks)) {}

AvailabilityListener::~AvailabilityListener() {
  if (maintenance_timer_ != 0) loop_.CancelTimer(maintenance_timer_);
  if (view_timer_ != 0) loop_.CancelTimer(view_timer_);
}

void AvailabilityListener::Take(std::string_view bytes, Via via) {
  const StatusOr<Announcement> announcement = DecodeAnnouncement(bytes);
  if (!announcement.ok() || announcement->cluster != cluster_) {
    if (hooks_.refused != nullptr) hooks_.refused->Increment();
    return;
  }
  const News news = page_.Receive(*announcement, loop_.Now(), via);
  if (news == News::kNone) return Correct(*announcement);
  if (news == News::kNewNode) hooks_.on_new_node(announcement->node);
  ScheduleMaintenance(page_.NextEventOf(announcement->node));
  if (news != News::kLoad) ScheduleView();
}

void AvailabilityListener::Correct(const Announcement& announcement) {
  const std::optional<uint64_t> known = page_.Outranks(announcement, loop_.Now());
  if (!known) return;
  hooks_.send(announcement.probe_endpoint, EncodeCorrection({cluster_, announcement.node, *known}));
}

void AvailabilityListener::Quarantine(const Endpoint& endpoint) {
  // The call was sent before its node was excluded.
  if (page_.IsSilent(endpoint)) return hooks_.on_silent(endpoint);
  if (page_.Quarantine(endpoint, loop_.Now())) ScheduleMaintenance(page_.NextEvent());
}

void AvailabilityListener::Exclude(const NodeId& node) {
  if (!page_.Exclude(node, loop_.Now())) return;
  LOG(WARNING) << "node " << node << " cannot be reached; excluded until it announces itself again";
  ScheduleMaintenance(page_.NextEvent());
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

void AvailabilityListener::ScheduleMaintenance(TimePoint next) {
  if (next == kNever || next >= maintenance_at_) return;
  if (maintenance_timer_ != 0) loop_.CancelTimer(maintenance_timer_);
  maintenance_at_ = next;
  maintenance_timer_ = loop_.RunAt(next, [this] {
    maintenance_timer_ = 0;
    maintenance_at_ = kNever;
    Maintain();
  });
}

void AvailabilityListener::Maintain() {
  const TimePoint now = loop_.Now();
  for (const ServiceYellowPage::Probe& probe : page_.Suspect(now)) {
    hooks_.send(probe.to, hooks_.probe);
  }
  const std::vector<ServiceYellowPage::Silent> silent = page_.Expire(now);
  // Publish the view first, so that calls that are now retried do not choose the silent node again.
  if (!silent.empty()) hooks_.on_view(page_.View());
  for (const ServiceYellowPage::Silent& node : silent) HandleSilent(node);
  ScheduleMaintenance(page_.NextEvent());
}

void AvailabilityListener::HandleSilent(const ServiceYellowPage::Silent& silent) {
  if (silent.forgotten) {
    LOG(WARNING) << "node " << silent.node
                 << " stopped announcing itself and did not answer probes; removed";
    if (hooks_.expired != nullptr) hooks_.expired->Increment();
  } else {
    LOG(WARNING) << "node " << silent.node
                 << " does not answer calls or probes; excluded until it answers";
    if (hooks_.excluded != nullptr) hooks_.excluded->Increment();
  }
  hooks_.on_silent(silent.call_endpoint);
  if (silent.control_endpoint.port != 0) hooks_.on_silent(silent.control_endpoint);
}

}  // namespace neptune
