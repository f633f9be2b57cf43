// The waiting requests of one service class, fair between clients.
//
//   client A ▒▒▒▒▒▒▒ ┐   clients take turns; within a client the oldest request is first, or the
//   client B ▒       ├─► newest. A client that asks much waits for itself, not the others for it.
//   client C ▒▒      ┘
//
// Newest first serves requests whose clients have the most patience left; then a client that has
// come last also has the first turn.
//
// Source: round robin between flows [Nagle87].
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Limits: none; the owner bounds size() with Displace. Operations cost O(log clients), Ahead
//   O(clients of few requests).

#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "neptune/scheduling/class_scheduler.h"

namespace neptune {

class FairQueue {
 public:
  FairQueue() = default;
  FairQueue(FairQueue&&) = default;
  FairQueue& operator=(FairQueue&&) = default;

  // `is_urgent`: newest requests are served first now.
  void Push(const WaitingRequest& request, uint64_t client, bool is_urgent);
  // The request whose turn it is; null: none waits. Valid until the next change.
  const WaitingRequest* Next(bool newest_first) const;
  // Removes a request that was chosen; its client's next turn is after those of the others.
  void Take(RequestTicket ticket);
  // Removes a request that is not to be served; false: it does not wait.
  bool Remove(RequestTicket ticket);

  // The newest request of the client with the most requests, if it has more than another request of
  // `client` would be; it is removed.
  std::optional<RequestTicket> Displace(uint64_t client);

  // How many requests are served before another one of the client, if the oldest are first.
  size_t Ahead(uint64_t client) const;
  size_t size() const { return places_.size(); }
  size_t client_count() const { return clients_.size(); }

 private:
  struct Client;
  using Turns = std::list<Client*>;
  struct Client {
    uint64_t id = 0;
    std::list<WaitingRequest> waiting{};  // the oldest first
    Turns::iterator turn{};
  };
  struct Place {
    Client* client;
    std::list<WaitingRequest>::iterator at;
  };

  // Records that the client's number of requests has changed from `before`.
  void Recount(Client& client, size_t before);
  // Erases the request; true: its client has others.
  bool Erase(std::unordered_map<RequestTicket, Place>::iterator place);

  std::unordered_map<uint64_t, Client> clients_;  // those that wait
  Turns turns_;                                   // the next one first
  std::set<std::pair<size_t, uint64_t>> by_count_;
  std::unordered_map<RequestTicket, Place> places_;
};

}  // namespace neptune
