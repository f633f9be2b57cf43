// The part of NetworkModel that opens streams: the handshake, its retries and its refusals.

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/world/sim/network_model.h"

namespace neptune {
namespace {

// Ends the attempt, once, and calls its handler.
void Complete(SimKernel& kernel, const std::shared_ptr<ConnectAttempt>& attempt,
              StatusOr<std::unique_ptr<Stream>> result) {
  if (!attempt->on_done) return;
  kernel.Cancel(attempt->deadline_timer);
  Network::ConnectHandler on_done = std::exchange(attempt->on_done, nullptr);
  on_done(std::move(result));
}

}  // namespace

void NetworkModel::Connect(std::shared_ptr<ConnectAttempt> attempt, TimePoint deadline) {
  if (deadline != kNever) {
    attempt->deadline_timer =
        kernel_.At(deadline, EventKind::kTimer, attempt->loop, [this, attempt] {
          Complete(kernel_, attempt,
                   DeadlineExceeded("connecting to ", attempt->to.ToString(), ": timed out"));
        });
  }
  SendConnect(attempt);
}

void NetworkModel::FailConnect(const std::shared_ptr<ConnectAttempt>& attempt, Duration delay,
                               Status why) {
  kernel_.At(kernel_.now() + delay, EventKind::kMessage, attempt->loop,
             [this, attempt, why = std::move(why)] { Complete(kernel_, attempt, why); });
}

void NetworkModel::SendConnect(const std::shared_ptr<ConnectAttempt>& attempt) {
  const int from = attempt->loop->host->index;
  const Endpoint& to = attempt->to;
  if (to.address == 0 || to.port == 0 || IsMulticast(to.address)) {
    return FailConnect(attempt, Duration(0),
                       InvalidArgument("connecting to ", to.ToString(), ": not a host's port"));
  }
  const Host* target = Resolve(*hosts_[from], to.address);
  if (target == nullptr) {
    return FailConnect(attempt, kUnreachableDelay,
                       Unavailable("connecting to ", to.ToString(), ": host unreachable"));
  }
  const int server_host = target->state->index;
  if (links_.IsCut(from, server_host) || links_.IsCut(server_host, from)) {
    return RetryConnect(attempt);
  }
  const Duration delay = links_.StreamDelay(from, server_host, kernel_.now(), 0);
  kernel_.At(kernel_.now() + delay, EventKind::kModel, nullptr,
             [this, attempt, server_host] { ArriveConnect(attempt, server_host); });
}

void NetworkModel::RetryConnect(const std::shared_ptr<ConnectAttempt>& attempt) {
  const Duration wait = kConnectRetryInterval * (int64_t{1} << attempt->retry_count);
  if (attempt->retry_count++ == kConnectRetryCountMax) {
    return FailConnect(attempt, wait,
                       Unavailable("connecting to ", attempt->to.ToString(), ": no answer"));
  }
  kernel_.At(kernel_.now() + wait, EventKind::kModel, attempt->loop, [this, attempt] {
    if (attempt->on_done) SendConnect(attempt);
  });
}

void NetworkModel::ArriveConnect(const std::shared_ptr<ConnectAttempt>& attempt, int server_host) {
  if (!attempt->on_done || attempt->loop->stopped) return;
  Host& server = *hosts_[server_host];
  const std::shared_ptr<ListenSocket> listener = PickListener(server, attempt->to);
  if (listener == nullptr) {
    const Duration back =
        links_.StreamDelay(server_host, attempt->loop->host->index, kernel_.now(), 0);
    return FailConnect(
        attempt, back,
        Unavailable("connecting to ", attempt->to.ToString(), ": connection refused"));
  }
  if (listener->pending_count >= listener->options.backlog) return RetryConnect(attempt);
  OpenStream(attempt, listener);
}

std::shared_ptr<StreamEnd> NetworkModel::MakeEnd(LoopState* loop, const Endpoint& peer) {
  Host* host = hosts_[loop->host->index].get();
  const uint64_t id = next_end_id_++;
  auto end =
      std::make_shared<StreamEnd>(kernel_, links_, StreamEnd::Place{loop, peer}, id,
                                  [host](StreamEnd& retired) { host->ends.erase(retired.id()); });
  host->ends.emplace(id, end);
  return end;
}

// The server's side is open at once, the client's side one link delay later.
void NetworkModel::OpenStream(const std::shared_ptr<ConnectAttempt>& attempt,
                              const std::shared_ptr<ListenSocket>& listener) {
  Host& client = *hosts_[attempt->loop->host->index];
  const Endpoint from = {SourceAddress(client, 0, attempt->to.address), client.next_port};
  client.next_port =
      client.next_port + 1 == kEphemeralPortEnd ? kEphemeralPortFirst : client.next_port + 1;
  const auto connecting = MakeEnd(attempt->loop, attempt->to);
  const auto accepted = MakeEnd(listener->loop, from);
  const TimePoint open_at =
      kernel_.now() +
      links_.StreamDelay(listener->loop->host->index, attempt->loop->host->index, kernel_.now(), 0);
  StreamEnd::Join(connecting, accepted, open_at);
  auto client_stream = std::make_unique<SimStream>(connecting);
  kernel_.At(open_at, EventKind::kMessage, attempt->loop,
             [this, attempt, stream = std::move(client_stream)]() mutable {
               Complete(kernel_, attempt, std::move(stream));
             });
  ++listener->pending_count;
  kernel_.At(kernel_.now(), EventKind::kMessage, listener->loop,
             [listener, stream = std::make_unique<SimStream>(accepted)]() mutable {
               --listener->pending_count;
               if (listener->open) listener->on_accept(std::move(stream));
             });
}

}  // namespace neptune
