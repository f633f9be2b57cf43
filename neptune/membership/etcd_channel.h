// Transports announcements through etcd, for networks without multicast.
//
//   Publish ─► put of the node's own key, under a lease of lease_ttl that is kept alive
//   once per poll_interval ─► range of the keys that changed since ─► handler
//
// The directory only transports announcements; the listener decides about membership as usual. A
// goodbye is an announcement like any other and expires with its lease; the removal of a key has no
// effect. A directory that is unavailable, emptied or corrupted therefore neither adds nor removes
// nodes: silent nodes are probed, and stay if they answer. Only the latest announcement is queued
// for writing. After a failure the next server is tried, with increasing delays; connections and
// lost leases are renewed.
//
// Source: [Shen02] 2.2 (publish/subscribe channel). Departs from source: the channel is a store
//   that is polled.
// Runs unchanged in the real and the simulated world.
// Threads: the channel's loop only.
// Limits: EtcdChannelOptions; kDirectoryEntryCountMax entries per poll; answers of
//   kEtcdAnswerSizeMax bytes.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "neptune/membership/announcement_channel.h"
#include "neptune/membership/directory_metrics.h"
#include "neptune/security/cluster_key.h"
#include "neptune/security/tls_context.h"
#include "neptune/world/loop.h"

namespace neptune {

inline constexpr size_t kDirectoryEndpointCountMax = 16;

struct EtcdChannelOptions {
  // Servers of one etcd cluster, 1 to kDirectoryEndpointCountMax.
  std::vector<Endpoint> endpoints;
  // Keys are PREFIX + node; ends in '/'.
  std::string prefix;
  std::string node;
  // Name and password by which each connection's requests are authorised; empty: by none.
  std::string user;
  std::string password;
  // Certificates for the connections; null: they are not encrypted. A server's certificate has to
  // be of the authority, and for the address of the server.
  std::shared_ptr<TlsContext> tls;
  // Keys with which announcements are sealed and verified; null: announcements are not sealed.
  std::shared_ptr<const ClusterKeys> keys;
  // Maximum time between two polls of the directory. Smaller: changes are detected sooner, at more
  // load on etcd. Default: 1 s.
  Duration poll_interval = std::chrono::seconds(1);
  // Time for which the key of a dead node remains. Default: 5 s, after which a silent node is
  // probed.
  std::chrono::seconds lease_ttl{5};
  // Timeout of a request, including connecting. Default: 2 s.
  Duration request_timeout = std::chrono::seconds(2);
  // Delay after the first failure, and its maximum; doubled each time that all endpoints have
  // failed.
  Duration retry_min = std::chrono::milliseconds(100);
  Duration retry_max = std::chrono::seconds(5);
  // Fields may be null.
  DirectoryMetrics metrics;
};

// Starts polling the directory at once; succeeds even if it is unavailable. `loop` outlives the
// channel.
// Errors: kInvalidArgument no endpoints or too many, a prefix that does not end in '/'.
StatusOr<std::unique_ptr<AnnouncementChannel>> OpenEtcdChannel(
    Loop& loop, EtcdChannelOptions options, AnnouncementChannel::Handler on_message);

}  // namespace neptune
