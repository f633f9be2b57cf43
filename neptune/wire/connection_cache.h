// The connections of one loop to other nodes: opened on demand, shared by all calls, kept open.
//
// Source: [Chu03] 4.5 (connection cache).
// Threads: the loop only; Get on a user-level thread of it.
// Errors: kUnavailable or kDeadlineExceeded of the connection attempt; kResourceExhausted every
//   kept connection has calls in flight.
// Limits: ConnectionCacheOptions; a new connection evicts the least recently used idle one.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "neptune/thread/user_thread.h"
#include "neptune/wire/client_connection.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace neptune {

struct ConnectionCacheOptions {
  // Network of the connections; outlives the cache. Null: the loop's own network.
  Network* network = nullptr;
  ClientConnectionOptions connection;
  // Timeout of a connection attempt. Default: 500 ms, many round trips of a cluster's network.
  Duration connect_timeout = std::chrono::milliseconds(500);
  // Maximum number of connections kept. Default: 1,024 nodes.
  size_t connection_count_max = 1024;
  // Called with an endpoint whose calls had no answer for kSilentLooksMax checks; may be null.
  std::function<void(const Endpoint&)> on_unanswered;
};

// Interval at which connections with calls in flight are checked for silence.
inline constexpr Duration kSilenceLookInterval = std::chrono::milliseconds(100);
inline constexpr int kSilentLooksMax = 3;

class ConnectionCache {
 public:
  ConnectionCache(Loop& loop, const ConnectionCacheOptions& options);
  // Fails connection attempts in progress with kCancelled and closes all connections.
  ~ConnectionCache();

  // Returns a usable connection; parks while one is being opened. The pointer keeps it alive.
  StatusOr<std::shared_ptr<ClientConnection>> Get(const Endpoint& to, TimePoint deadline);
  // Returns a usable connection that is already open, else null. Never waits; event handlers may
  // call it.
  std::shared_ptr<ClientConnection> Find(const Endpoint& to);
  // Removes the connection from the cache; calls in flight go on.
  void Drop(const Endpoint& to);
  // Closes the connection because the node is silent; its calls complete with kUnavailable.
  void Close(const Endpoint& to);

  // Number of consecutive failed connection attempts, regardless of how many calls waited for each.
  int failure_count(const Endpoint& to) const;
  void ForgetFailures(const Endpoint& to) { failures_.erase(to); }

  size_t connection_count() const { return connections_.size(); }

 private:
  struct Attempt;
  struct Entry {
    std::shared_ptr<ClientConnection> connection;
    uint64_t last_use = 0;
    int silent_looks = 0;  // consecutive silent checks with calls in flight, since the last report
  };
  void Begin(const Endpoint& to);
  void Finish(const Endpoint& to, StatusOr<std::unique_ptr<Stream>> stream);
  void Keep(const Endpoint& to, std::unique_ptr<Stream> stream);
  void CountFailure(const Endpoint& to);
  void ScheduleLook();
  void LookForSilence();
  // Evicts an idle connection if the cache is full; returns false if all have calls in flight.
  bool MakeRoom();

  Loop& loop_;
  const ConnectionCacheOptions options_;
  std::map<Endpoint, Entry> connections_;
  std::map<Endpoint, std::shared_ptr<Attempt>> attempts_;
  std::map<Endpoint, int> failures_;  // in a row; at most connection_count_max endpoints
  // Ended connections, destroyed at the loop's next turn, because one may still be in its callback.
  std::vector<std::shared_ptr<ClientConnection>> ended_;
  uint64_t use_count_ = 0;
  TimerId look_timer_ = 0;  // set while calls may be in flight
  std::shared_ptr<bool> alive_;
};

}  // namespace neptune
