// Membership of a node: its announcements, their channel, and the announcements it receives.

#include <string>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/membership/announcement_folder.h"
#include "neptune/membership/etcd_channel.h"
#include "neptune/membership/file_channel.h"
#include "neptune/node/node.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/replication/client/version_section.h"
#include "neptune/service/loop_client.h"

namespace neptune {
namespace {

// Interval at which services are checked for progress. Together with their stall_timeout, a hung
// service is withdrawn within 2 s.
constexpr Duration kStallLook = std::chrono::milliseconds(100);

Duration PollInterval(const ClusterSpec& spec) {
  return std::chrono::milliseconds(spec.membership().poll_interval_ms());
}

// The directory's servers are not nodes of the cluster, so connections to them use neither its
// handshake nor its certificates.
StatusOr<EtcdChannelOptions> EtcdOptions(const ClusterSpec& spec) {
  EtcdChannelOptions options;
  for (const std::string& text : spec.membership().etcd_endpoints()) {
    NEPTUNE_ASSIGN_OR_RETURN(const Endpoint endpoint, Endpoint::Parse(text));
    options.endpoints.push_back(endpoint);
  }
  options.prefix = StrCat("neptune/", spec.name(), "/nodes/");
  options.poll_interval = PollInterval(spec);
  return options;
}

StatusOr<FileChannelOptions> FileOptions(const ClusterSpec& spec) {
  FileChannelOptions options;
  NEPTUNE_ASSIGN_OR_RETURN(options.folder, FolderOfDirectory(spec.membership().directory()));
  StrAppend(&options.folder, "/", spec.name(), ".nodes");
  options.poll_interval = PollInterval(spec);
  return options;
}

}  // namespace

void Node::Tell(const std::string& bytes, const std::vector<Endpoint>& to) {
  if (to.empty()) return TellAll(bytes);
  for (const Endpoint& endpoint : to) load_index_server_->SendProbe(endpoint, bytes);
}

void Node::TellAll(const std::string& bytes) {
  if (task_channel_ != nullptr) return task_channel_->Publish(bytes);
  if (!UsesDirectory(options_.spec)) return;  // the channel is not open yet
  for (const auto& node : View()->nodes()) {
    load_index_server_->SendProbe(node->probe_endpoint, bytes);
  }
}

Status Node::StartMembership() {
  AvailabilityListener::Hooks hooks;
  hooks.send = [this](const Endpoint& to, std::string_view bytes) {
    load_index_server_->SendProbe(to, bytes);
  };
  hooks.on_new_node = [this](const NodeId& node) {
    if (publisher_ != nullptr && node != options_.name) publisher_->AnnounceSoon();
  };
  hooks.refused = counters_.announcements_refused;
  hooks.expired = counters_.nodes_expired;
  hooks.excluded = counters_.nodes_excluded;
  hooks.on_silent = [this](const Endpoint& endpoint) {
    for (const auto& loop : loops_.all()) {
      loop->loop->Post(
          [client = loop->client.get(), endpoint] { client->connections().Close(endpoint); });
    }
  };
  hooks.on_view = [this](std::shared_ptr<const YellowPageView> view) {
    AdoptView(std::move(view));
  };
  listener_ = std::make_unique<AvailabilityListener>(*control_->loop, identity_.cluster,
                                                     options_.yellow_page, std::move(hooks));
  NEPTUNE_RETURN_IF_ERROR(UsesDirectory(options_.spec) ? OpenDirectory() : OpenMulticast());
  PublisherOptions options;
  options.interval = std::chrono::milliseconds(options_.spec.announce_interval_ms());
  options.size_max = security_.announcement_size_max();
  publisher_ = std::make_unique<AvailabilityPublisher>(
      *control_->loop, *channel_, identity_, [this](Announcement* a) { FillAnnouncement(a); },
      options);
  // Fail if the node's announcement is too large, because the node would never be called.
  NEPTUNE_RETURN_IF_ERROR(publisher_->Current().status());
  publisher_->Start();
  LookForStalls();
  return OkStatus();
}

Status Node::OpenMulticast() {
  NEPTUNE_ASSIGN_OR_RETURN(const Endpoint group, Endpoint::Parse(options_.spec.multicast_group()));
  NEPTUNE_ASSIGN_OR_RETURN(
      channel_, OpenMulticastChannel(control_->network(), group, address_,
                                     [this](std::string_view bytes) { listener_->Hear(bytes); }));
  Endpoint tasks_group = group;
  ++tasks_group.port;
  NEPTUNE_ASSIGN_OR_RETURN(
      task_channel_, OpenMulticastChannel(
                         control_->network(), tasks_group, address_,
                         [this](std::string_view bytes) { aggregator_->tasks().Prepare(bytes); }));
  return OkStatus();
}

Status Node::OpenDirectory() {
  NEPTUNE_ASSIGN_OR_RETURN(const DirectoryMetrics metrics, DirectoryMetrics::Make(metrics_));
  const auto hear = [this](std::string_view bytes) { listener_->Hear(bytes); };
  Loop& loop = *control_->loop;
  if (options_.spec.membership().directory() == "etcd") {
    NEPTUNE_ASSIGN_OR_RETURN(EtcdChannelOptions options, EtcdOptions(options_.spec));
    options.node = options_.name.value();
    options.keys = security_.keys();
    options.metrics = metrics;
    NEPTUNE_ASSIGN_OR_RETURN(channel_, OpenEtcdChannel(loop, std::move(options), hear));
  } else {
    NEPTUNE_ASSIGN_OR_RETURN(FileChannelOptions options, FileOptions(options_.spec));
    options.node = options_.name.value();
    options.keys = security_.keys();
    options.helpers = world_.MakeHelperThreads("directory", 1);
    options.metrics = metrics;
    NEPTUNE_ASSIGN_OR_RETURN(channel_, OpenFileChannel(loop, std::move(options), hear));
  }
  return OkStatus();
}

// Announces the node at once when a service stalls or recovers.
void Node::LookForStalls() {
  if (draining_ || hosts_.empty()) return;
  const TimePoint now = control_->loop->Now();
  size_t stalled_count = 0;
  for (const auto& [name, host] : hosts_) stalled_count += host->Stalled(now) ? 1 : 0;
  if (std::exchange(stalled_count_, stalled_count) != stalled_count) publisher_->AnnounceSoon();
  stall_timer_ = control_->loop->RunAt(now + kStallLook, [this] { LookForStalls(); });
}

void Node::HandleProbeAnswer(std::string_view bytes) {
  if (IsDissemination(bytes)) return aggregator_->tasks().Prepare(bytes);
  const StatusOr<Correction> correction = DecodeCorrection(bytes);
  if (!correction.ok()) {
    if (listener_ != nullptr) listener_->HearAnswer(bytes);
  } else if (publisher_ != nullptr && correction->cluster == identity_.cluster &&
             correction->node == options_.name) {
    publisher_->Outrank(correction->incarnation);
  }
}

void Node::AdoptView(std::shared_ptr<const YellowPageView> view) {
  for (const auto& loop : loops_.all()) {
    loop->loop->Post([client = loop->client.get(), view] { client->set_view(view); });
  }
  LeafLock lock(&view_mutex_);
  view_ = std::move(view);
}

std::shared_ptr<const YellowPageView> Node::View() const {
  LeafLock lock(&view_mutex_);
  return view_;
}

void Node::FillAnnouncement(Announcement* announcement) {
  announcement->load_index = LoadIndex();
  announcement->draining = draining_;
  const HostLoad host = world_.SampleLoad();
  announcement->cpu_load_permille = host.cpu_permille;
  announcement->io_load_permille = host.io_permille;
  const TimePoint now = control_->loop->Now();
  for (const auto& [name, host] : hosts_) {
    HostedService hosted = host->Describe(now);
    if (!hosted.partitions.empty()) announcement->services.push_back(std::move(hosted));
  }
  announcement->sections[kAggregationLoadSection] =
      aggregator_->AnnouncedLoad(announcement->services);
  if (std::string versions = replication_->Announce(); !versions.empty()) {
    announcement->sections[kVersionSection] = std::move(versions);
  }
}

}  // namespace neptune
