// The accepted connections whose handshake is in progress, and which of them ends for a new one.
//
//   an address is at its limit    the oldest of the address
//   all places are taken          the newest of the address that has most; if the new connection's
//                                 own address has most, its oldest
//
// So a client that opens connections and is silent, or as many as it can each round trip, takes
// places from itself, and others get theirs. Loopback has no limit of its own, because proxies and
// the nodes of one machine connect from it.
//
// No I/O, no clock.
// Threads: thread-compatible.
// Limits: HandshakePlaces::Limits. Operations take logarithmic time.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "neptune/world/network.h"

namespace neptune {

class HandshakePlaces {
 public:
  struct Limits {
    size_t count_max;
    size_t per_address_max;
  };
  // A quarter of all for one address, so that some addresses do not take all, but at least
  // kAddressCountMin, because users share addresses.
  static constexpr size_t kAddressCountMin = 64;
  static Limits ForAll(size_t count_max) {
    return {count_max, std::max(kAddressCountMin, count_max / 4)};
  }

  explicit HandshakePlaces(const Limits& limits) : limits_(limits) {}

  size_t count() const { return all_.size(); }

  // Returns the handshake that must end before one of `address` is added; nullopt: there is room.
  std::optional<uint64_t> ChooseFor(uint32_t address) const {
    const auto own = addresses_.find(address);
    const size_t own_count = own == addresses_.end() ? 0 : own->second.size();
    const bool is_limited = address >> 24 != kLoopbackAddress >> 24;
    if (is_limited && own_count > 0 && own_count >= limits_.per_address_max) {
      return *own->second.begin();
    }
    if (all_.empty() || all_.size() < limits_.count_max) return std::nullopt;
    const auto& [count, greediest] = *by_count_.rbegin();
    if (own_count + 1 < count) return *addresses_.at(greediest).rbegin();
    return own_count > 0 ? *own->second.begin() : *all_.begin();
  }
  // `id` increases with time.
  void Add(uint64_t id, uint32_t address) {
    all_.insert(id);
    std::set<uint64_t>& ids = addresses_[address];
    by_count_.erase({ids.size(), address});
    ids.insert(id);
    by_count_.emplace(ids.size(), address);
  }
  void Remove(uint64_t id, uint32_t address) {
    if (all_.erase(id) == 0) return;
    const auto place = addresses_.find(address);
    by_count_.erase({place->second.size(), address});
    place->second.erase(id);
    if (place->second.empty()) {
      addresses_.erase(place);
    } else {
      by_count_.emplace(place->second.size(), address);
    }
  }

 private:
  const Limits limits_;
  std::set<uint64_t> all_;
  std::map<uint32_t, std::set<uint64_t>> addresses_;
  std::set<std::pair<size_t, uint32_t>> by_count_;  // of addresses_
};

}  // namespace neptune
