// Equal work at the same time is done once: the first asker leads, the others wait for what it
// lands.
//
//   Board(key) ─ nothing under way ─────────► kLeads ── Land(value) ──► all who wait: kLanded
//             └─ under way ─► waits ──┬───────► kLanded                   ▲
//                                     ├─ the leader left without landing ─► the first who waits: kLeads
//                                     ├─ its own deadline passed ─────────► kLate
//                                     └─ the scheduler stops ─────────────► kStopped
//
// A leader that fails, or is cancelled, therefore fails no other: the one that has waited longest
// takes over, and the rest go on waiting for it.
//
// Threads: thread-safe; Board and seats on user-level threads of any loops.
// Errors: none; the role says how a wait ended.
// Limits: `waiter_count_max` over all keys; an asker over it gets kFull and works for itself.

#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {

enum class FlightRole { kLeads, kLanded, kFull, kLate, kStopped };

template <typename Value>
class SingleFlight {
 public:
  explicit SingleFlight(size_t waiter_count_max) : waiter_count_max_(waiter_count_max) {}

  // What an asker has got. A leader that destroys it without Land hands over to who waits.
  class Seat {
   public:
    Seat(Seat&& other) noexcept
        : flights_(std::exchange(other.flights_, nullptr)),
          key_(std::move(other.key_)),
          role_(other.role_),
          value_(std::move(other.value_)),
          has_waited_(other.has_waited_) {}
    Seat& operator=(Seat&&) = delete;
    ~Seat() {
      if (flights_ != nullptr) flights_->HandOver(key_);
    }

    FlightRole role() const { return role_; }
    // kLanded: what the leader landed.
    const Value& value() const { return *value_; }
    // kLeads: an earlier leader left.
    bool has_waited() const { return has_waited_; }

    // Gives those who wait what `make` returns; it is called only if there are any, and must not
    // wait. REQUIRES: role() is kLeads; called at most once.
    template <typename Make>
    void Land(Make make) {
      std::exchange(flights_, nullptr)->Deliver(key_, make);
    }

   private:
    friend class SingleFlight;
    Seat(SingleFlight* flights, std::string key, FlightRole role)
        : flights_(flights), key_(std::move(key)), role_(role) {}

    SingleFlight* flights_;  // null: it does not lead
    std::string key_;
    FlightRole role_;
    std::shared_ptr<const Value> value_;
    bool has_waited_ = false;
  };

  // Waits while an equal key is under way. A caller whose client leaves waits on, parked: what it
  // waits for is of use to others, and ends by its own limits.
  Seat Board(const std::string& key, neptune::TimePoint deadline) {
    Waiter self{neptune::ThreadRef(neptune::UserThread::Current())};
    {
      neptune::LeafLock lock(&mutex_);
      const auto [flight, is_new] = flights_.try_emplace(key);
      if (is_new) return Seat(this, key, FlightRole::kLeads);
      if (waiter_count_ >= waiter_count_max_) return Seat(nullptr, {}, FlightRole::kFull);
      flight->second.push_back(&self);
      ++waiter_count_;
    }
    return Await(key, deadline, &self);
  }

  bool IsUnderWay(const std::string& key) const {
    neptune::LeafLock lock(&mutex_);
    return flights_.contains(key);
  }
  size_t waiter_count() const {
    neptune::LeafLock lock(&mutex_);
    return waiter_count_;
  }

 private:
  // Lives on the stack of its thread, which leaves only once it is in no flight any more.
  struct Waiter {
    neptune::ThreadRef thread;
    bool is_in_flight = true;
    bool leads = false;
    std::shared_ptr<const Value> value = nullptr;
  };
  using Waiters = std::deque<Waiter*>;

  Seat Await(const std::string& key, neptune::TimePoint deadline, Waiter* self) {
    bool stops = false;
    while (true) {
      {
        neptune::LeafLock lock(&mutex_);
        if (!self->is_in_flight || stops || neptune::this_thread::Now() >= deadline) {
          return Leave(key, stops, self);
        }
      }
      stops = neptune::this_thread::Park(deadline) == neptune::ParkResult::kStopping;
    }
  }

  Seat Leave(const std::string& key, bool stops, Waiter* self)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (self->is_in_flight) {
      std::erase(flights_[key], self);
      --waiter_count_;
      return Seat(nullptr, {}, stops ? FlightRole::kStopped : FlightRole::kLate);
    }
    Seat seat =
        self->leads ? Seat(this, key, FlightRole::kLeads) : Seat(nullptr, {}, FlightRole::kLanded);
    seat.value_ = std::move(self->value);
    seat.has_waited_ = true;
    return seat;
  }

  void HandOver(const std::string& key) {
    neptune::ThreadRef next;
    {
      neptune::LeafLock lock(&mutex_);
      const auto flight = flights_.find(key);
      if (flight->second.empty()) {
        flights_.erase(flight);
        return;
      }
      Waiter* const first = flight->second.front();
      flight->second.pop_front();
      --waiter_count_;
      first->is_in_flight = false;
      first->leads = true;
      next = first->thread;
    }
    next->Wake();
  }

  template <typename Make>
  void Deliver(const std::string& key, Make& make) {
    std::vector<neptune::ThreadRef> woken;
    {
      neptune::LeafLock lock(&mutex_);
      const auto flight = flights_.find(key);
      const Waiters waiters = std::move(flight->second);
      flights_.erase(flight);
      waiter_count_ -= waiters.size();
      const auto value = waiters.empty() ? nullptr : std::make_shared<const Value>(make());
      for (Waiter* const waiter : waiters) {
        waiter->is_in_flight = false;
        waiter->value = value;
        woken.push_back(waiter->thread);
      }
    }
    for (const neptune::ThreadRef& thread : woken) thread->Wake();
  }

  const size_t waiter_count_max_;
  mutable neptune::LeafMutex mutex_;
  absl::flat_hash_map<std::string, Waiters> flights_ ABSL_GUARDED_BY(mutex_);
  size_t waiter_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace search::frontend
