#include "neptune/scheduling/fair_queue.h"

#include <algorithm>

namespace neptune {

void FairQueue::Recount(Client& client, size_t before) {
  if (before > 0) by_count_.erase({before, client.id});
  if (!client.waiting.empty()) by_count_.emplace(client.waiting.size(), client.id);
}

void FairQueue::Push(const WaitingRequest& request, uint64_t client, bool is_urgent) {
  const auto [found, is_new] = clients_.try_emplace(client);
  Client& owner = found->second;
  if (is_new) {
    owner.id = client;
    owner.turn = turns_.insert(is_urgent ? turns_.begin() : turns_.end(), &owner);
  }
  owner.waiting.push_back(request);
  places_.emplace(request.ticket, Place{&owner, std::prev(owner.waiting.end())});
  Recount(owner, owner.waiting.size() - 1);
}

const WaitingRequest* FairQueue::Next(bool newest_first) const {
  if (turns_.empty()) return nullptr;
  const std::list<WaitingRequest>& waiting = turns_.front()->waiting;
  return newest_first ? &waiting.back() : &waiting.front();
}

bool FairQueue::Erase(std::unordered_map<RequestTicket, Place>::iterator place) {
  Client& client = *place->second.client;
  client.waiting.erase(place->second.at);
  places_.erase(place);
  Recount(client, client.waiting.size() + 1);
  if (!client.waiting.empty()) return true;
  turns_.erase(client.turn);
  clients_.erase(client.id);
  return false;
}

void FairQueue::Take(RequestTicket ticket) {
  const auto found = places_.find(ticket);
  Client& client = *found->second.client;
  if (Erase(found)) turns_.splice(turns_.end(), turns_, client.turn);
}

bool FairQueue::Remove(RequestTicket ticket) {
  const auto found = places_.find(ticket);
  if (found == places_.end()) return false;
  Erase(found);
  return true;
}

std::optional<RequestTicket> FairQueue::Displace(uint64_t client) {
  if (by_count_.empty()) return std::nullopt;
  const auto own = clients_.find(client);
  const size_t own_count = own == clients_.end() ? 0 : own->second.waiting.size();
  const auto [count, id] = *by_count_.rbegin();
  if (count <= own_count + 1) return std::nullopt;
  const RequestTicket ticket = clients_.at(id).waiting.back().ticket;
  Remove(ticket);
  return ticket;
}

size_t FairQueue::Ahead(uint64_t client) const {
  const auto own = clients_.find(client);
  const size_t rounds = (own == clients_.end() ? 0 : own->second.waiting.size()) + 1;
  // Clients with fewer requests than rounds have all of theirs served, the others one a round.
  size_t ahead = 0;
  size_t counted = 0;
  for (auto it = by_count_.begin(); it != by_count_.end() && it->first < rounds; ++it) {
    ahead += it->first;
    ++counted;
  }
  ahead += (by_count_.size() - counted) * rounds;
  return own == clients_.end() ? ahead : std::min(ahead, size());
}

}  // namespace neptune
