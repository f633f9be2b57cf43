#include "neptune/node/node_membership.h"

#include <string>
#include <utility>
#include <vector>

#include "neptune/base/secret_file.h"
#include "neptune/base/strings.h"
#include "neptune/membership/announcement_folder.h"
#include "neptune/membership/etcd_channel.h"
#include "neptune/membership/file_channel.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/node/node_options.h"
#include "neptune/security/tls_context.h"
#include "neptune/service/loop_client.h"

namespace neptune {
namespace {

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

Status NodeMembership::Start(Announcement identity, const NodeMetrics& counters, Hooks hooks) {
  hooks_ = std::move(hooks);
  excluded_ = counters.nodes_excluded;
  cluster_ = identity.cluster;
  const ClusterSpec& spec = environment_.options.spec;
  Loop& loop = *environment_.runtime.control().loop;
  listener_ = std::make_unique<AvailabilityListener>(
      loop, cluster_, environment_.options.yellow_page, ListenerHooks(identity.node, counters));
  NEPTUNE_RETURN_IF_ERROR(UsesDirectory(spec) ? OpenDirectory() : OpenMulticast());
  PublisherOptions options;
  options.interval = std::chrono::milliseconds(spec.announce_interval_ms());
  options.size_max = environment_.security.announcement_size_max();
  publisher_ = std::make_unique<AvailabilityPublisher>(
      loop, *channel_, std::move(identity), [this](Announcement* a) { Fill(a); }, options);
  // Fail if the node's announcement is too large, because the node would never be called.
  NEPTUNE_RETURN_IF_ERROR(publisher_->Current().status());
  publisher_->Start();
  return OkStatus();
}

AvailabilityListener::Hooks NodeMembership::ListenerHooks(const NodeId& self,
                                                          const NodeMetrics& counters) {
  AvailabilityListener::Hooks hooks;
  hooks.send = hooks_.send;
  if (!environment_.runtime.control().network().knows_senders()) {
    hooks.probe.resize(kAnnouncementSizeMax);
  }
  hooks.on_new_node = [this, self](const NodeId& node) {
    if (publisher_ != nullptr && node != self) publisher_->AnnounceSoon();
  };
  hooks.refused = counters.announcements_refused;
  hooks.expired = counters.nodes_expired;
  hooks.excluded = counters.nodes_excluded;
  hooks.on_silent = [this](const Endpoint& endpoint) { CloseConnections(endpoint); };
  hooks.on_view = [this](std::shared_ptr<const YellowPageView> view) { Adopt(std::move(view)); };
  return hooks;
}

Status NodeMembership::OpenMulticast() {
  Network& network = environment_.runtime.control().network();
  NEPTUNE_ASSIGN_OR_RETURN(const Endpoint group,
                           Endpoint::Parse(environment_.options.spec.multicast_group()));
  const auto receive = [this](std::string_view bytes) { listener_->Receive(bytes); };
  NEPTUNE_ASSIGN_OR_RETURN(channel_,
                           OpenMulticastChannel(network, group, environment_.address, receive));
  Endpoint tasks_group = group;
  ++tasks_group.port;
  NEPTUNE_ASSIGN_OR_RETURN(
      task_channel_,
      OpenMulticastChannel(network, tasks_group, environment_.address,
                           [this](std::string_view bytes) { hooks_.on_task(bytes); }));
  return OkStatus();
}

Status NodeMembership::OpenDirectory() {
  const ClusterSpec& spec = environment_.options.spec;
  NEPTUNE_ASSIGN_OR_RETURN(const DirectoryMetrics metrics,
                           DirectoryMetrics::Make(environment_.metrics));
  const auto receive = [this](std::string_view bytes) { listener_->Receive(bytes); };
  Loop& loop = *environment_.runtime.control().loop;
  if (spec.membership().directory() == "etcd") {
    NEPTUNE_ASSIGN_OR_RETURN(EtcdChannelOptions options, EtcdOptions(spec));
    NEPTUNE_RETURN_IF_ERROR(LoadEtcdCredentials(&options));
    options.node = environment_.options.name.value();
    options.keys = environment_.security.keys();
    options.metrics = metrics;
    NEPTUNE_ASSIGN_OR_RETURN(channel_, OpenEtcdChannel(loop, std::move(options), receive));
  } else {
    NEPTUNE_ASSIGN_OR_RETURN(FileChannelOptions options, FileOptions(spec));
    options.node = environment_.options.name.value();
    options.keys = environment_.security.keys();
    options.helpers = environment_.world.MakeHelperThreads("directory", 1);
    options.metrics = metrics;
    NEPTUNE_ASSIGN_OR_RETURN(channel_, OpenFileChannel(loop, std::move(options), receive));
  }
  return OkStatus();
}

Status NodeMembership::LoadEtcdCredentials(EtcdChannelOptions* options) const {
  const NodeOptions& node = environment_.options;
  const MembershipSpec& membership = node.spec.membership();
  const auto path = [&](const std::string& file) {
    return NodePath(file, node.name, node.spec_directory);
  };
  options->user = membership.etcd_user();
  if (!options->user.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(options->password, LoadSecret(path(membership.etcd_password_file())));
  }
  if (!membership.has_etcd_tls()) return OkStatus();
  const NodeTls& tls = membership.etcd_tls();
  NEPTUNE_ASSIGN_OR_RETURN(
      options->tls, TlsContext::Load(TlsUse::kNodes,
                                     {path(tls.certificate_file()), path(tls.key_file()),
                                      path(tls.authority_file())},
                                     [&world = environment_.world] { return world.wall_time(); }));
  options->tls->KeepFresh(environment_.world);
  return OkStatus();
}

void NodeMembership::Goodbye() {
  draining_ = true;
  if (publisher_ != nullptr) publisher_->Goodbye();
}

void NodeMembership::AnnounceSoon() {
  if (publisher_ != nullptr && !draining_) publisher_->AnnounceSoon();
}

StatusOr<std::string> NodeMembership::Current() {
  if (publisher_ == nullptr) return Unavailable("the node is starting");
  return publisher_->Current();
}

void NodeMembership::Receive(std::string_view bytes) {
  const StatusOr<Correction> correction = DecodeCorrection(bytes);
  if (!correction.ok()) {
    if (listener_ != nullptr) listener_->ReceiveAnswer(bytes);
  } else if (publisher_ != nullptr && correction->cluster == cluster_ &&
             correction->node == environment_.options.name) {
    publisher_->Outrank(correction->incarnation);
  }
}

void NodeMembership::Exclude(const NodeId& node) {
  environment_.runtime.Post([this, node] {
    if (listener_ == nullptr) return;
    excluded_->Increment();
    listener_->Exclude(node);
  });
}

void NodeMembership::Quarantine(const Endpoint& call_endpoint) {
  environment_.runtime.Post([this, call_endpoint] {
    if (listener_ != nullptr) listener_->Quarantine(call_endpoint);
  });
}

void NodeMembership::SendTask(const std::string& bytes, const std::vector<Endpoint>& to) {
  if (to.empty()) return SendTaskToAll(bytes);
  for (const Endpoint& endpoint : to) hooks_.send(endpoint, bytes);
}

void NodeMembership::SendTaskToAll(const std::string& bytes) {
  if (task_channel_ != nullptr) return task_channel_->Publish(bytes);
  if (!UsesDirectory(environment_.options.spec)) return;  // the channel is not open yet
  for (const auto& node : View()->nodes()) hooks_.send(node->probe_endpoint, bytes);
}

void NodeMembership::CloseConnections(const Endpoint& call_endpoint) {
  for (const auto& loop : environment_.runtime.loops().all()) {
    loop->loop->Post([client = loop->client.get(), call_endpoint] {
      client->connections().Close(call_endpoint);
    });
  }
}

void NodeMembership::Adopt(std::shared_ptr<const YellowPageView> view) {
  for (const auto& loop : environment_.runtime.loops().all()) {
    loop->loop->Post([client = loop->client.get(), view] { client->set_view(view); });
  }
  LeafLock lock(&view_mutex_);
  view_ = std::move(view);
}

std::shared_ptr<const YellowPageView> NodeMembership::View() const {
  LeafLock lock(&view_mutex_);
  return view_;
}

void NodeMembership::Fill(Announcement* announcement) {
  announcement->draining = draining_;
  const HostLoad host = environment_.world.SampleLoad();
  announcement->cpu_load_permille = host.cpu_permille;
  announcement->io_load_permille = host.io_permille;
  hooks_.describe(announcement);
}

}  // namespace neptune
