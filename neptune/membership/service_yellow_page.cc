#include "neptune/membership/service_yellow_page.h"

#include <algorithm>
#include <utility>

namespace neptune {

namespace {

// True if the announcements differ in loads only, i.e. not in endpoints, flags or services.
bool OnlyLoadsDiffer(const Announcement& one, const Announcement& other) {
  return one.incarnation == other.incarnation && one.draining == other.draining &&
         one.call_endpoint == other.call_endpoint &&
         one.control_endpoint == other.control_endpoint &&
         one.probe_endpoint == other.probe_endpoint && one.services == other.services;
}

}  // namespace

const std::map<YellowPageView::ServicePartition, std::vector<Replica>>& YellowPageView::all()
    const {
  absl::call_once(is_sorted_, [this] {
    for (const Known& known : nodes_) {
      const std::shared_ptr<const Announcement> said = known.announced->last();
      if (known.excluded || said->draining) continue;
      for (const HostedService& hosted : said->services) {
        for (const PartitionId& partition : hosted.partitions) {
          replicas_[{hosted.service, partition}].push_back(
              {known.node, hosted.is_control ? said->control_endpoint : said->call_endpoint,
               said->probe_endpoint, hosted.interface_version, hosted.implementation,
               known.announced});
        }
      }
    }
  });
  return replicas_;
}

const std::vector<Replica>& YellowPageView::Replicas(const ServiceName& service,
                                                     PartitionId partition) const {
  static const auto& none = *new std::vector<Replica>();
  const auto found = all().find({service, partition});
  return found == replicas_.end() ? none : found->second;
}

std::vector<PartitionId> YellowPageView::Partitions(const ServiceName& service) const {
  std::vector<PartitionId> partitions;
  for (auto it = all().lower_bound({service, PartitionId(0)});
       it != replicas_.end() && it->first.first == service; ++it) {
    partitions.push_back(it->first.second);
  }
  return partitions;
}

std::shared_ptr<const Announcement> YellowPageView::Find(const NodeId& node) const {
  const auto found =
      std::lower_bound(nodes_.begin(), nodes_.end(), node,
                       [](const Known& known, const NodeId& id) { return known.node < id; });
  return found == nodes_.end() || found->node != node ? nullptr : found->announced->last();
}

std::vector<std::shared_ptr<const Announcement>> YellowPageView::nodes() const {
  std::vector<std::shared_ptr<const Announcement>> nodes;
  nodes.reserve(nodes_.size());
  for (const Known& known : nodes_) nodes.push_back(known.announced->last());
  return nodes;
}

// An announcement is late if it is older than the node's last one, or was sent before its goodbye.
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
  const Announcement& last = *known->second.announcement;
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

News ServiceYellowPage::Receive(const Announcement& announcement, TimePoint now, Via via) {
  if (IsLate(announcement, now)) return News::kNone;
  if (announcement.goodbye) {
    Remember(announcement.node, {announcement.incarnation, now});
    if (entries_.erase(announcement.node) == 0) return News::kNone;
    ++version_;
    return News::kMembers;
  }
  if (entries_.size() >= kNodeCountMax && !entries_.contains(announcement.node)) {
    ++ignored_count_;
    return News::kNone;
  }
  const News news = Renew(entries_[announcement.node], announcement, now, via);
  if (news != News::kLoad) ++version_;
  return news;
}

// A suspected node must answer a probe; announcements on the channel do not clear it.
News ServiceYellowPage::Renew(Entry& entry, const Announcement& announcement, TimePoint now,
                              Via via) {
  const std::shared_ptr<const Announcement> before = std::move(entry.announcement);
  const bool is_new = before == nullptr || before->incarnation != announcement.incarnation;
  const bool was_excluded = entry.excluded;
  const bool quarantined = entry.quarantined && via == Via::kChannel && !is_new;
  if (!quarantined) {
    entry = {.announcement = nullptr, .announced = std::move(entry.announced), .heard_at = now};
  }
  entry.announcement = std::make_shared<const Announcement>(announcement);
  entry.heard_at = now;
  if (quarantined && !entry.probed) entry.Probe(ProbesIn(options_.probe_timeout), now);
  if (!is_new && OnlyLoadsDiffer(*before, announcement)) {
    entry.announced->Renew(entry.announcement);
    return entry.excluded == was_excluded ? News::kLoad : News::kMembers;
  }
  entry.announced = std::make_shared<AnnouncedNode>(entry.announcement);
  return is_new ? News::kNewNode : News::kMembers;
}

std::optional<uint64_t> ServiceYellowPage::Outranks(const Announcement& announcement,
                                                    TimePoint now) const {
  if (announcement.goodbye) return std::nullopt;
  if (const auto gone = departures_.find(announcement.node); gone != departures_.end()) {
    const bool remembered = now - gone->second.at < options_.goodbye_memory;
    if (remembered && announcement.incarnation <= gone->second.incarnation) {
      return gone->second.incarnation;
    }
  }
  const auto known = entries_.find(announcement.node);
  if (known == entries_.end()) return std::nullopt;
  const uint64_t incarnation = known->second.announcement->incarnation;
  const bool lives = now - known->second.heard_at < options_.expiry / 2;
  if (lives || announcement.incarnation >= incarnation) return std::nullopt;
  return incarnation;
}

std::map<NodeId, ServiceYellowPage::Entry>::const_iterator ServiceYellowPage::FindAt(
    const Endpoint& endpoint) const {
  return std::find_if(entries_.begin(), entries_.end(), [&](const auto& item) {
    const Announcement& said = *item.second.announcement;
    return said.call_endpoint == endpoint || said.control_endpoint == endpoint;
  });
}

bool ServiceYellowPage::IsSilent(const Endpoint& endpoint) const {
  const auto found = FindAt(endpoint);
  return found != entries_.end() && found->second.quarantined && found->second.excluded;
}

bool ServiceYellowPage::Quarantine(const Endpoint& endpoint, TimePoint now) {
  const auto found = FindAt(endpoint);
  if (found == entries_.end()) return false;
  Entry& entry = entries_.at(found->first);
  if (entry.quarantined || entry.excluded || now - entry.heard_at < options_.probe_interval) {
    return false;
  }
  entry.quarantined = true;
  entry.Probe(ProbesIn(options_.quarantine_timeout), now);
  return true;
}

std::vector<ServiceYellowPage::Probe> ServiceYellowPage::Suspect(TimePoint now) {
  std::vector<Probe> probes;
  for (auto& [node, entry] : entries_) {
    if (!entry.probed && now - entry.heard_at >= options_.expiry) {
      entry.Probe(ProbesIn(options_.probe_timeout), now);
    }
    // A quarantine that began late must not delay the expiry of a silent node.
    if (now - entry.heard_at >= options_.expiry) {
      entry.probes_left = std::min(entry.probes_left, ProbesIn(options_.probe_timeout));
    }
    if (!entry.probed || now < entry.next_probe) continue;
    // If this runs late, this node was suspended, and answers may be waiting to be read.
    const bool late = now - entry.next_probe > options_.probe_interval;
    if (entry.probes_left == 0 && !late) continue;
    entry.probes_left = std::max<int64_t>(entry.probes_left - 1, 0);
    entry.next_probe = now + options_.probe_interval;
    probes.push_back({node, entry.announcement->probe_endpoint});
  }
  return probes;
}

std::vector<ServiceYellowPage::Silent> ServiceYellowPage::Expire(TimePoint now) {
  std::vector<Silent> silent;
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto here = it++;
    Entry& entry = here->second;
    if (!entry.probed || entry.probes_left > 0 || now < entry.next_probe) continue;
    entry.probed = false;
    const bool forgotten = now - entry.heard_at >= options_.expiry;
    const bool was_excluded = std::exchange(entry.excluded, true);
    if (forgotten || !was_excluded) {
      silent.push_back({here->first, entry.announcement->call_endpoint, forgotten,
                        entry.announcement->control_endpoint});
    }
    if (forgotten) entries_.erase(here);
  }
  if (!silent.empty()) ++version_;
  return silent;
}

TimePoint ServiceYellowPage::NextEvent() const {
  TimePoint next = kNever;
  for (const auto& [node, entry] : entries_) {
    next = std::min(next, NextEventOf(entry));
  }
  return next;
}

TimePoint ServiceYellowPage::NextEventOf(const NodeId& node) const {
  const auto found = entries_.find(node);
  return found == entries_.end() ? kNever : NextEventOf(found->second);
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
  view->nodes_.reserve(entries_.size());
  for (const auto& [node, entry] : entries_) {
    view->nodes_.push_back({node, entry.announced, entry.excluded});
  }
  return view;
}

}  // namespace neptune
