#include "neptune/wire/connection_cache.h"

#include <utility>

namespace neptune {

// A connection attempt and the threads that wait for it.
struct ConnectionCache::Attempt {
  bool done = false;
  Status status;
  std::vector<ThreadRef> waiters;
};

ConnectionCache::ConnectionCache(Loop& loop, const ConnectionCacheOptions& options)
    : loop_(loop), options_(options), alive_(std::make_shared<bool>(true)) {}

ConnectionCache::~ConnectionCache() {
  *alive_ = false;
  if (look_timer_ != 0) loop_.CancelTimer(look_timer_);
  for (auto& [to, attempt] : attempts_) {
    attempt->done = true;
    attempt->status = Cancelled("connecting to ", to.ToString(), ": the node stops");
    for (const ThreadRef& waiter : attempt->waiters) waiter->Wake();
  }
}

StatusOr<std::shared_ptr<ClientConnection>> ConnectionCache::Get(const Endpoint& to,
                                                                 TimePoint deadline) {
  while (true) {
    if (auto connection = Find(to)) return connection;
    if (!attempts_.contains(to)) {
      if (!MakeRoom()) {
        return ResourceExhausted("connecting to ", to.ToString(), ": ", connections_.size(),
                                 " connections are in use");
      }
      Begin(to);
    }
    const std::shared_ptr<Attempt> attempt = attempts_[to];
    attempt->waiters.emplace_back(UserThread::Current());
    while (!attempt->done) {
      const ParkResult result = this_thread::Park(deadline);
      if (attempt->done || result == ParkResult::kWoken) continue;
      if (result == ParkResult::kStopping) return Cancelled("connecting to ", to.ToString());
      return DeadlineExceeded("connecting to ", to.ToString());
    }
    NEPTUNE_RETURN_IF_ERROR(attempt->status);
  }
}

std::shared_ptr<ClientConnection> ConnectionCache::Find(const Endpoint& to) {
  const auto found = connections_.find(to);
  if (found == connections_.end()) return nullptr;
  if (!found->second.connection->usable()) {
    Drop(to);
    return nullptr;
  }
  found->second.last_use = ++use_count_;
  ScheduleLook();
  return found->second.connection;
}

void ConnectionCache::Begin(const Endpoint& to) {
  attempts_[to] = std::make_shared<Attempt>();
  Network& network = options_.network == nullptr ? loop_.network() : *options_.network;
  network.Connect(to, loop_.Now() + options_.connect_timeout,
                  [this, to, alive = alive_](StatusOr<std::unique_ptr<Stream>> stream) {
                    if (*alive) Finish(to, std::move(stream));
                  });
}

void ConnectionCache::Finish(const Endpoint& to, StatusOr<std::unique_ptr<Stream>> stream) {
  const auto node = attempts_.extract(to);
  const std::shared_ptr<Attempt> attempt = node.mapped();
  attempt->done = true;
  attempt->status = stream.status();
  if (stream.ok()) {
    failures_.erase(to);
    Keep(to, *std::move(stream));
  } else {
    CountFailure(to);
  }
  for (const ThreadRef& waiter : attempt->waiters) waiter->Wake();
}

void ConnectionCache::Keep(const Endpoint& to, std::unique_ptr<Stream> stream) {
  auto connection = std::make_shared<ClientConnection>(std::move(stream), options_.connection);
  connections_[to] = {.connection = connection, .last_use = ++use_count_};
  // A holder may keep the connection alive longer than the cache.
  connection->Start([this, to, alive = alive_, ended = connection.get()](const Status&) {
    if (!*alive) return;
    const auto found = connections_.find(to);
    if (found != connections_.end() && found->second.connection.get() == ended) Drop(to);
  });
}

void ConnectionCache::CountFailure(const Endpoint& to) {
  if (failures_.size() >= options_.connection_count_max && !failures_.contains(to)) {
    failures_.erase(failures_.begin());
  }
  ++failures_[to];
}

int ConnectionCache::failure_count(const Endpoint& to) const {
  const auto found = failures_.find(to);
  return found == failures_.end() ? 0 : found->second;
}

void ConnectionCache::ScheduleLook() {
  if (look_timer_ != 0 || !options_.on_unanswered) return;
  look_timer_ = loop_.RunAt(loop_.Now() + kSilenceLookInterval, [this] {
    look_timer_ = 0;
    LookForSilence();
  });
}

void ConnectionCache::LookForSilence() {
  bool any_in_flight = false;
  for (auto& [to, entry] : connections_) {
    const bool waits = entry.connection->in_flight_count() > 0;
    const bool received = entry.connection->ConsumeHeard();
    entry.silent_looks = waits && !received ? entry.silent_looks + 1 : 0;
    any_in_flight |= waits;
    if (entry.silent_looks < kSilentLooksMax) continue;
    entry.silent_looks = 0;
    options_.on_unanswered(to);
  }
  if (any_in_flight) ScheduleLook();
}

bool ConnectionCache::MakeRoom() {
  if (connections_.size() + attempts_.size() < options_.connection_count_max) return true;
  auto oldest = connections_.end();
  for (auto it = connections_.begin(); it != connections_.end(); ++it) {
    if (it->second.connection->in_flight_count() > 0) continue;
    if (oldest == connections_.end() || it->second.last_use < oldest->second.last_use) oldest = it;
  }
  if (oldest == connections_.end()) return false;
  Drop(oldest->first);
  return true;
}

void ConnectionCache::Close(const Endpoint& to) {
  const auto found = connections_.find(to);
  if (found == connections_.end()) return;
  const std::shared_ptr<ClientConnection> connection = found->second.connection;
  Drop(to);
  connection->Close(Unavailable(to.ToString(), " does not respond"));
}

void ConnectionCache::Drop(const Endpoint& to) {
  auto node = connections_.extract(to);
  if (node.empty()) return;
  if (ended_.empty()) {
    loop_.Post([this, alive = alive_] {
      if (*alive) ended_.clear();
    });
  }
  ended_.push_back(std::move(node.mapped().connection));
}

}  // namespace neptune
