// Keeps a replica up to date: asks each peer twice a second for the changes since the last answer.
//
// A write thus reaches every replica within a second or two, and a replica that was away catches up
// when it is back.
//
// Source: anti-entropy; [Shen02] 5.2.1 for the writes it is suitable for: commutative ones.
// Threads: Start and Stop on user-level threads of one loop; in between it runs its own thread
//   there.
// Errors: none; a peer that does not answer is asked again next time.
// Limits: kChangesCountMax items an answer; kPullTimeout for each peer.

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
  // Returns after the thread has ended. Idempotent.
  void Stop();

 private:
  // The position up to which a peer's changes are known.
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
