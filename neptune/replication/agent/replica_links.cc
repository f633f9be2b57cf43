#include "neptune/replication/agent/replica_links.h"

#include <glog/logging.h>

#include <utility>

namespace neptune {
namespace {

// Delay after lost messages, so that an unreachable node is not called continuously.
constexpr Duration kLostPause = std::chrono::milliseconds(20);

}  // namespace

ReplicaLinks::ReplicaLinks(Client& client, NodeLoop& control, OnLost on_lost)
    : client_(client), control_(control), on_lost_(std::move(on_lost)) {}

void ReplicaLinks::Send(const NodeId& to, AddressedMessage addressed) {
  if (stopping_) return;
  Link& link = links_[to];
  if (link.waiting.size() >= kLinkCountMax || link.size + addressed.message.size() > kLinkSizeMax) {
    return on_lost_(to, addressed);
  }
  link.size += addressed.message.size();
  link.waiting.push_back(std::move(addressed));
  if (link.is_sending) return;
  const auto started = control_.scheduler->Spawn([this, to, &link] {
    SendAll(to, link);
    link.is_sending = false;
    --threads_alive_;
  });
  if (!started.ok()) return;  // the next message retries
  link.is_sending = true;
  ++threads_alive_;
}

std::vector<AddressedMessage> ReplicaLinks::PopSome(Link& link) {
  std::vector<AddressedMessage> messages;
  size_t size = 0;
  while (!link.waiting.empty() && size < kExchangeSizeMax) {
    size += link.waiting.front().message.size();
    messages.push_back(std::move(link.waiting.front()));
    link.waiting.pop_front();
  }
  link.size -= size;
  return messages;
}

void ReplicaLinks::SendAll(const NodeId& to, Link& link) {
  while (!link.waiting.empty() && !stopping_) {
    const std::vector<AddressedMessage> messages = PopSome(link);
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
                               Data(EncodeAddressedMessages(messages)), &response, options);
    if (status.ok()) continue;
    for (const AddressedMessage& addressed : messages) on_lost_(to, addressed);
    if (this_thread::SleepFor(kLostPause) == ParkResult::kStopping) return;
  }
}

}  // namespace neptune
