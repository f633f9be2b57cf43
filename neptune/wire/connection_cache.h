// Connections of one loop to other nodes: made when first needed, shared by all calls, kept.
//
// Source: [Chu03] 4.5 (connection cache).
// Threads: the loop's own; Get on a user-level thread.
// Errors: kUnavailable or kDeadlineExceeded of the connection attempt; kResourceExhausted every kept
//   connection has calls in flight.
// Limits: ConnectionCacheOptions; the least recently used idle connection makes room for a new one.

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
  // Where connections are made; outlives the cache. Null: the loop's own network.
  Network* network = nullptr;
  ClientConnectionOptions connection;
  // Longest connection attempt. Default: 500 ms, many round trips of a cluster's network.
  Duration connect_timeout = std::chrono::milliseconds(500);
  // Most connections kept. Default: 1,024 nodes.
  size_t connection_count_max = 1024;
  // Told of an endpoint whose calls have had no answer for kSilentLooksMax looks; may be null.
  std::function<void(const Endpoint&)> on_unanswered;
};

// While calls are in flight, each connection is looked at so often.
inline constexpr Duration kSilenceLookInterval = std::chrono::milliseconds(100);
inline constexpr int kSilentLooksMax = 3;

class ConnectionCache {
 public:
  ConnectionCache(Loop& loop, const ConnectionCacheOptions& options);
  // Attempts under way fail with kCancelled; connections are closed.
  ~ConnectionCache();

  // A usable connection; parks while one is being made. Holders keep it alive.
  StatusOr<std::shared_ptr<ClientConnection>> Get(const Endpoint& to, TimePoint deadline);
  // A usable connection that is there already, else null. Never waits; from event handlers too.
  std::shared_ptr<ClientConnection> Find(const Endpoint& to);
  // Lets go of the connection; calls in flight go on.
  void Drop(const Endpoint& to);
  // Ends the connection because the node is silent: its calls are answered with kUnavailable.
  void Close(const Endpoint& to);

  // How many attempts to connect have failed in a row, however many calls waited for each.
  int failure_count(const Endpoint& to) const;
  void ForgetFailures(const Endpoint& to) { failures_.erase(to); }

  size_t connection_count() const { return connections_.size(); }

 private:
  struct Attempt;
  struct Entry {
    std::shared_ptr<ClientConnection> connection;
    uint64_t last_use = 0;
    int silent_looks = 0;  // in a row since the last report, with calls in flight
  };
  void Begin(const Endpoint& to);
  void Finish(const Endpoint& to, StatusOr<std::unique_ptr<Stream>> stream);
  void Keep(const Endpoint& to, std::unique_ptr<Stream> stream);
  void CountFailure(const Endpoint& to);
  void ScheduleLook();
  void LookForSilence();
  // False if every connection has calls in flight.
  bool MakeRoom();

  Loop& loop_;
  const ConnectionCacheOptions options_;
  std::map<Endpoint, Entry> connections_;
  std::map<Endpoint, std::shared_ptr<Attempt>> attempts_;
  std::map<Endpoint, int> failures_;  // in a row; at most connection_count_max endpoints
  // Ended connections, let go at the next turn: one may be in the middle of telling that it ended.
  std::vector<std::shared_ptr<ClientConnection>> ended_;
  uint64_t use_count_ = 0;
  TimerId look_timer_ = 0;  // set while calls may be in flight
  std::shared_ptr<bool> alive_;
};

}  // namespace neptune
