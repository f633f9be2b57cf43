// What each connection of an HTTP server is doing, and which one gives its place to a new one.
//
//   kFresh      no request has come yet            ┐
//   kIdle       answered, between requests         │  a list each, the longest first;
//   kReceiving  a request has begun to arrive      │  every operation is O(1)
//   kSending    answers are unread                 ┘
//   kWorking    a request is in progress: it never gives way
//
// A new connection is a new question, so it is not refused while others only wait. These give way,
// in this order: a connection that has sent nothing for `grace`; the one between requests for the
// longest time; the fresh one; one whose request arrives for longer than `grace`; one that has not
// read its answers for longer than `grace`. The grace protects connections that were accepted a
// moment ago, whose first request is on its way.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Limits: none; the server asks AtLimit before it adds a place.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>

#include "neptune/base/time.h"

namespace neptune {

enum class HttpStanding : uint8_t { kFresh, kIdle, kReceiving, kSending, kWorking };
inline constexpr size_t kHttpStandingCount = 5;

struct HttpPlaceLimits {
  size_t count_max;
  size_t per_address_max;
  Duration grace;
};

class HttpPlaces {
 public:
  // The place of one connection, owned by it. REQUIRES: removed before it is destroyed.
  class Place {
   public:
    HttpStanding standing() const { return standing_; }
    TimePoint since() const { return since_; }
    // When the address of the client may come again by its last refusal. REQUIRES: not removed.
    TimePoint& asked_until() { return address_->asked_until; }
    // True if the client has the next move, and nothing is unread.
    bool is_idle() const {
      return standing_ == HttpStanding::kFresh || standing_ == HttpStanding::kIdle;
    }

   private:
    friend class HttpPlaces;
    using List = std::list<Place*>;
    struct Address {
      size_t count = 0;
      List idle{};  // those that are_idle, the longest first
      TimePoint asked_until{};
    };

    uint64_t id_ = 0;
    HttpStanding standing_ = HttpStanding::kFresh;
    TimePoint since_;
    List::iterator at_;          // in the list of its standing
    List::iterator at_address_;  // in the list of its address, or in spare_
    Address* address_ = nullptr;
    uint32_t address_number_ = 0;
    List spare_{};  // the node of at_address_ while it is in no list of the address
  };

  explicit HttpPlaces(const HttpPlaceLimits& limits) : limits_(limits) {}
  HttpPlaces(const HttpPlaces&) = delete;
  HttpPlaces& operator=(const HttpPlaces&) = delete;

  // Adds a fresh place. `id` is how Give* name the connection.
  void Add(Place* place, uint64_t id, uint32_t address, TimePoint now);
  void Remove(Place* place);
  // Records what the connection is doing now. It counts from `now` if that is new or `progressed`.
  void Note(Place* place, HttpStanding standing, bool progressed, TimePoint now);

  size_t count() const { return count_; }
  size_t count_of(HttpStanding standing) const { return ListOf(standing).size(); }
  // True if `more` further places are taken beyond the limit.
  bool AtLimit(size_t more = 0) const { return count_ >= limits_.count_max + more; }
  // The same for the places of one address. The loopback address has no limit of its own, because
  // proxies connect from it.
  bool AtAddressLimit(uint32_t address, size_t more = 0) const;

  // The connection that gives way to a new one; nullopt: all are at work.
  std::optional<uint64_t> ChooseToGiveWay(TimePoint now) const;
  // The same among those of one address; only idle ones give way.
  std::optional<uint64_t> ChooseOfAddress(uint32_t address) const;
  // The slowest client: one that has not read its answers, or not sent its request, for longer than
  // `grace`. It is closed when memory is short.
  std::optional<uint64_t> ChooseSlowest(TimePoint now) const;
  // The first idle connection whose idle time began before `since`.
  std::optional<uint64_t> ChooseIdleSince(TimePoint since) const;
  // When the time of the longest idle connection began; kNever: none is idle.
  TimePoint OldestIdle() const;

 private:
  using List = Place::List;

  List& ListOf(HttpStanding standing) { return lists_[static_cast<size_t>(standing)]; }
  const List& ListOf(HttpStanding standing) const { return lists_[static_cast<size_t>(standing)]; }
  const Place* First(HttpStanding standing) const {
    const List& list = ListOf(standing);
    return list.empty() ? nullptr : list.front();
  }
  // The longest with that standing, if for longer than the grace.
  const Place* FirstOver(HttpStanding standing, TimePoint now) const;
  static std::optional<uint64_t> IdOf(const Place* place) {
    return place == nullptr ? std::nullopt : std::optional(place->id_);
  }
  static void MoveToEnd(List& from, List::iterator at, List* to) {
    to->splice(to->end(), from, at);
  }

  const HttpPlaceLimits limits_;
  std::array<List, kHttpStandingCount> lists_;
  std::unordered_map<uint32_t, Place::Address> addresses_;
  size_t count_ = 0;
};

}  // namespace neptune
