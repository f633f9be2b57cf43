// Keeps a replica up with the others: asks each of them, twice a second, what has changed since it was asked last.
//
// A write so reaches every replica within a second or two, and one that was away catches up by itself when it is back.
//
// Anti-entropy.; [Shen02] 5.2.1 for what it may be used for: commutative writes.
// Threads: Start and Stop on user-level threads of one loop, where it has one of its own in between.
// Errors: none: a peer that does not answer is asked again next time.
// Limits: kChangesCountMax items an answer; a peer is waited for kPullTimeout.

#pragma once

#include <functional>
#include <map>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/examples/auction/auction.pb.h"
#include "neptune/service/client.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples {

inline constexpr Duration kPullInterval = std::chrono::milliseconds(500);
inline constexpr Duration kPullTimeout = std::chrono::milliseconds(500);
inline constexpr size_t kChangesCountMax = 1000;

inline constexpr char kChangesMethod[] = "Changes";

class PeerChanges {
 public:
  using Take = std::function<void(const AuctionItem& item)>;
  PeerChanges(Client& client, ServiceName service, NodeId self, Take take)
      : client_(client),
        service_(std::move(service)),
        self_(std::move(self)),
        take_(std::move(take)) {}

  Status Start();
  // Returns when the thread has ended. Idempotent.
  void Stop();

 private:
  // How far a peer's changes are known.
  struct Known {
    uint64_t life = 0;
    uint64_t up_to = 0;
  };

  void PullUntilStopped();
  Status Pull(ClientSession& session, const NodeId& peer, Known* known);

  Client& client_;
  const ServiceName service_;
  const NodeId self_;
  const Take take_;
  std::map<NodeId, Known> peers_;
  ThreadRef thread_;
  ThreadRef stopper_;
  bool stopping_ = false;
  bool ended_ = false;
};

}  // namespace neptune::examples
