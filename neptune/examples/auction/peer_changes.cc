#include "neptune/examples/auction/peer_changes.h"

namespace neptune::examples {
namespace {

// The store has one partition, which is complete on every replica.
const PartitionId kWhole(0);

}  // namespace

Status PeerChanges::Start() {
  NEPTUNE_ASSIGN_OR_RETURN(thread_, ThreadScheduler::Current()->Spawn(
                                        [this] {
                                          PullUntilStopped();
                                          ended_ = true;
                                          if (stopper_) stopper_->Wake();
                                        },
                                        "peer changes"));
  return OkStatus();
}

void PeerChanges::Stop() {
  stopping_ = true;
  if (!thread_) return;
  thread_->Wake();
  stopper_ = ThreadRef(UserThread::Current());
  // The thread uses this object, so wait for its end even if the node's threads are being stopped.
  while (!ended_) this_thread::ParkUntilWoken();
  thread_ = ThreadRef();
}

void PeerChanges::PullUntilStopped() {
  ClientSession session(client_);
  while (!stopping_ &&
         this_thread::Park(this_thread::Now() + kPullInterval) != ParkResult::kStopping) {
    const auto view = client_.View();
    for (const Replica& replica : view->Replicas(service_, kWhole)) {
      if (replica.node == self_ || stopping_) continue;
      Known& known = peers_[replica.node];
      while (Pull(session, replica.node, &known).ok() && !stopping_) {
      }
    }
  }
}

// Returns OK if there are more changes.
Status PeerChanges::Pull(ClientSession& session, const NodeId& peer, Known* known) {
  ChangesRequest request;
  request.set_life(known->life);
  request.set_after(known->up_to);
  Data response;
  NEPTUNE_RETURN_IF_ERROR(Call(session,
                               {service_, kWhole, MethodName(kChangesMethod), AccessMode::kRead},
                               Data::Of(std::move(request)), &response,
                               {.deadline = this_thread::Now() + kPullTimeout, .only = peer}));
  NEPTUNE_ASSIGN_OR_RETURN(const Changes* const changes, response.As<Changes>());
  for (const AuctionItem& item : changes->items()) take_(item);
  *known = {changes->life(), changes->up_to()};
  return changes->complete() ? Unavailable("no more changes") : OkStatus();
}

}  // namespace neptune::examples
