#include "neptune/membership/service_yellow_page.h"

#include <algorithm>
#include <utility>

namespace neptune {

const std::vector<Replica>& YellowPageView::Replicas(const ServiceName& service,
                                                     PartitionId partition) const {
  static const auto& none = *new std::vector<Replica>();
  const auto found = replicas_.find({service, partition});
  return found == replicas_.end() ? none : found->second;
}

std::vector<PartitionId> YellowPageView::Partitions(const ServiceName& service) const {
  std::vector<PartitionId> partitions;
  for (auto it = replicas_.lower_bound({service, PartitionId(0)});
       it != replicas_.end() && it->first.first == service; ++it) {
    partitions.push_back(it->first.second);
  }
  return partitions;
}

// Late: older than what is known of the node, or sent before the goodbye that was heard.
bool ServiceYellowPage::IsLate(const Announcement& announcement, TimePoint now) {
  if (const auto gone = departures_.find(announcement.node); gone != departures_.end()) {
    if (announcement.incarnation <= gone->second.incarnation &&
        now - gone->second.at < options_.goodbye_memory) {
      return true;
    }
    departures_.erase(gone);
  }
  const auto known = entries_.find(announcement.node);
  if (known == entries_.end()) return false;
  const Announcement& last = known->second.announcement;
  return announcement.incarnation < last.incarnation ||
         (announcement.incarnation == last.incarnation && announcement.sequence <= last.sequence);
}

void ServiceYellowPage::Remember(const NodeId& node, const Departure& departure) {
  departures_[node] = departure;
  std::erase_if(departures_, [&](const auto& item) {
    return departure.at - item.second.at >= options_.goodbye_memory;
  });
  if (departures_.size() <= kNodeCountMax) return;
  departures_.erase(
      std::min_element(departures_.begin(), departures_.end(),
                       [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
}

bool ServiceYellowPage::Hear(const Announcement& announcement, TimePoint now) {
  if (IsLate(announcement, now)) return false;
  if (announcement.goodbye) {
    Remember(announcement.node, {announcement.incarnation, now});
    if (entries_.erase(announcement.node) == 0) return false;
    ++version_;
    return true;
  }
  if (!entries_.contains(announcement.node) && entries_.size() >= kNodeCountMax) {
    ++ignored_count_;
    return false;
  }
  entries_[announcement.node] = {.announcement = announcement, .heard_at = now};
  ++version_;
  return true;
}

std::vector<ServiceYellowPage::Probe> ServiceYellowPage::Suspect(TimePoint now) {
  std::vector<Probe> probes;
  for (auto& [node, entry] : entries_) {
    if (now - entry.heard_at < options_.expiry) continue;
    if (!std::exchange(entry.suspected, true)) {
      entry.probe_deadline = now + options_.probe_timeout;
      entry.next_probe = now;
    }
    if (now < entry.next_probe || now >= entry.probe_deadline) continue;
    entry.next_probe = now + options_.probe_interval;
    probes.push_back({node, entry.announcement.probe_endpoint});
  }
  return probes;
}

std::vector<NodeId> ServiceYellowPage::Expire(TimePoint now) {
  std::vector<NodeId> gone;
  std::erase_if(entries_, [&](const auto& item) {
    const bool expired = item.second.suspected && now >= item.second.probe_deadline;
    if (expired) gone.push_back(item.first);
    return expired;
  });
  if (!gone.empty()) ++version_;
  return gone;
}

TimePoint ServiceYellowPage::NextEvent() const {
  TimePoint next = kNever;
  for (const auto& [node, entry] : entries_) {
    next = std::min(next, entry.suspected ? std::min(entry.next_probe, entry.probe_deadline)
                                          : entry.heard_at + options_.expiry);
  }
  return next;
}

bool ServiceYellowPage::Exclude(const NodeId& node, TimePoint now) {
  const auto found = entries_.find(node);
  if (found == entries_.end() || found->second.excluded) return false;
  found->second.excluded = true;
  ++version_;
  return true;
}

std::shared_ptr<const YellowPageView> ServiceYellowPage::View() const {
  auto view = std::make_shared<YellowPageView>();
  view->version_ = version_;
  for (const auto& [node, entry] : entries_) {
    const Announcement& said = entry.announcement;
    view->nodes_.emplace(node, said);
    if (entry.excluded || said.draining) continue;
    for (const HostedService& hosted : said.services) {
      for (const PartitionId& partition : hosted.partitions) {
        view->replicas_[{hosted.service, partition}].push_back(
            {node, said.call_endpoint, said.probe_endpoint, hosted.interface_version,
             hosted.implementation, said.load_index, entry.heard_at});
      }
    }
  }
  return view;
}

}  // namespace neptune
