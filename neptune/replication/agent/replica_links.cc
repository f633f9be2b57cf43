#include "neptune/replication/agent/replica_links.h"

#include <glog/logging.h>

#include <utility>

namespace neptune {
namespace {

// Delay after lost letters, so that an unreachable node is not called continuously.
constexpr Duration kLostPause = std::chrono::milliseconds(20);

}  // namespace

ReplicaLinks::ReplicaLinks(Client& client, NodeLoop& control, OnLost on_lost)
    : client_(client), control_(control), on_lost_(std::move(on_lost)) {}

void ReplicaLinks::Send(const NodeId& to, ReplicaLetter letter) {
  if (stopping_) return;
  Link& link = links_[to];
  if (link.waiting.size() >= kLinkCountMax || link.size + letter.message.size() > kLinkSizeMax) {
    return on_lost_(to, letter);
  }
  link.size += letter.message.size();
  link.waiting.push_back(std::move(letter));
  if (link.is_sending) return;
  const auto started = control_.scheduler->Spawn([this, to, &link] {
    SendAll(to, link);
    link.is_sending = false;
    --threads_alive_;
  });
  if (!started.ok()) return;  // the next letter retries
  link.is_sending = true;
  ++threads_alive_;
}

std::vector<ReplicaLetter> ReplicaLinks::PopSome(Link& link) {
  std::vector<ReplicaLetter> letters;
  size_t size = 0;
  while (!link.waiting.empty() && size < kExchangeSizeMax) {
    size += link.waiting.front().message.size();
    letters.push_back(std::move(link.waiting.front()));
    link.waiting.pop_front();
  }
  link.size -= size;
  return letters;
}

void ReplicaLinks::SendAll(const NodeId& to, Link& link) {
  while (!link.waiting.empty() && !stopping_) {
    const std::vector<ReplicaLetter> letters = PopSome(link);
    ClientSession session(client_);
    CallOptions options;
    options.deadline = this_thread::Now() + kExchangeTimeout;
    options.attempts_max = 1;
    options.only = to;
    Data response;
    // Called as a write, so that it is not hedged: a second copy would be wasted.
    const Status status = Call(session,
                               {ServiceName(kReplicationService), PartitionId(0),
                                MethodName(kExchangeMethod), AccessMode::kWrite},
                               Data(EncodeReplicaLetters(letters)), &response, options);
    if (status.ok()) continue;
    for (const ReplicaLetter& letter : letters) on_lost_(to, letter);
    if (this_thread::SleepFor(kLostPause) == ParkResult::kStopping) return;
  }
}

}  // namespace neptune
