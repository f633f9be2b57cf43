// Announcements by way of a directory, an etcd server: for networks without multicast.
//
//   Publish ─► put of the node's own key, under a lease of lease_ttl that is kept alive
//   once each poll_interval ─► range of the keys that changed since ─► handler
//
// The directory only carries announcements; who is there, the listener decides as ever. A goodbye is an announcement
// that is put like others and goes with its lease; a key that disappears says nothing. So a directory that is lost,
// emptied or wrong neither adds nor removes anybody: nodes that are not heard are probed, and stay if they answer.
// Only the latest announcement waits to be put. After a failure the next server is tried, each at growing distances;
// connections are made anew, a lost lease is granted anew.
//
// Source: [Shen02] 2.2 (publish/subscribe channel). Departs from source: the channel is a store that is asked.
// Runs unchanged in the real and the simulated world.
// Threads: the loop's own.
// Limits: EtcdChannelOptions; kDirectoryEntryCountMax entries a poll; answers of kEtcdAnswerSizeMax bytes.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "neptune/membership/announcement_channel.h"
#include "neptune/membership/directory_metrics.h"
#include "neptune/security/cluster_key.h"
#include "neptune/world/loop.h"

namespace neptune {

inline constexpr size_t kDirectoryEndpointCountMax = 16;

struct EtcdChannelOptions {
  // Servers of one etcd cluster, 1 to kDirectoryEndpointCountMax.
  std::vector<Endpoint> endpoints;
  // Keys are PREFIX + node; ends in '/'.
  std::string prefix;
  std::string node;
  // What announcements are sealed with, and have to be; null: they are as they are.
  std::shared_ptr<const ClusterKeys> keys;
  // Longest time between two looks into the directory. Smaller: news are known sooner, more work for etcd. Default: 1 s.
  Duration poll_interval = std::chrono::seconds(1);
  // How long the key of a node that died stays. Default: 5 s, after which a silent node is probed.
  std::chrono::seconds lease_ttl{5};
  // For a request, connecting included. Default: 2 s.
  Duration request_timeout = std::chrono::seconds(2);
  // After the first failure, and at most; doubled each time that all endpoints have failed.
  Duration retry_min = std::chrono::milliseconds(100);
  Duration retry_max = std::chrono::seconds(5);
  // Fields may be null.
  DirectoryMetrics metrics;
};

// Begins at once to look into the directory; never fails for it being away. `loop` outlives the channel.
// Errors: kInvalidArgument no endpoints or too many, a prefix that does not end in '/'.
StatusOr<std::unique_ptr<AnnouncementChannel>> OpenEtcdChannel(
    Loop& loop, EtcdChannelOptions options, AnnouncementChannel::Handler on_message);

}  // namespace neptune
