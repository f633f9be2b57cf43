// Equal work at the same time is done once: the first asker leads, the others wait for what it
// lands.
//
//   Board(key) ─ nothing under way ─────────► kLeads ── Land(value) ──► all who wait: kLanded
//             └─ under way ─► waits ──┬───────► kLanded                   ▲
//                                     ├─ the leader left without landing ─► the first who waits: kLeads
//                                     ├─ its own deadline passed ─────────► kLate
//                                     ├─ its client left ─────────────────► kGone
//                                     └─ the scheduler stops ─────────────► kStopped
//
// The work belongs to all who want it: it is done with a call of its own (Seat::call), which is
// cancelled when the clients of all of them have left (SharedCancellation), the leader's among
// them. A leader that fails fails no other: the one that has waited longest takes over, and the
// rest go on waiting for it.
//
// Threads: thread-safe; Board and seats on user-level threads of any loops.
// Errors: none; the role says how a wait ended.
// Limits: `waiter_count_max` over all keys; an asker over it gets kFull and works for itself.

#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/service/cancellation.h"
#include "neptune/service/client.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {

enum class FlightRole { kLeads, kLanded, kFull, kLate, kGone, kStopped };

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
          call_(std::move(other.call_)),
          membership_(std::exchange(other.membership_, std::nullopt)),
          has_waited_(other.has_waited_) {}
    Seat& operator=(Seat&&) = delete;
    ~Seat() {
      if (flights_ != nullptr) flights_->HandOver(key_);
    }

    FlightRole role() const { return role_; }
    // kLanded: what the leader landed.
    const Value& value() const { return *value_; }
    // kLeads: the call to do the work with, in place of the client's own.
    const std::shared_ptr<neptune::IncomingCall>& call() const { return call_; }
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
    std::shared_ptr<neptune::IncomingCall> call_;
    std::optional<neptune::SharedCancellation::Member> membership_;
    bool has_waited_ = false;
  };

  // Waits while an equal key is under way. `caller`: the call of the asker's client; null: there is
  // none that could leave.
  Seat Board(const std::string& key, neptune::TimePoint deadline,
             const std::shared_ptr<neptune::IncomingCall>& caller) {
    Waiter self{.thread = neptune::ThreadRef(neptune::UserThread::Current()), .caller = caller};
    {
      neptune::LeafLock lock(&mutex_);
      const auto [entry, is_new] = flights_.try_emplace(key);
      Flight& flight = entry->second;
      if (!is_new && waiter_count_ >= waiter_count_max_) {
        return Seat(nullptr, {}, FlightRole::kFull);
      }
      self.membership = flight.shared->Join(caller);
      if (is_new) return LeadingSeat(key, &self);
      flight.waiters.push_back(&self);
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
    std::shared_ptr<neptune::IncomingCall> caller;
    std::optional<neptune::SharedCancellation::Member> membership = std::nullopt;
    bool is_in_flight = true;
    bool leads = false;
    std::shared_ptr<const Value> value = nullptr;

    bool is_gone() const { return caller != nullptr && neptune::IsCancelled(*caller); }
  };
  using Waiters = std::deque<Waiter*>;
  struct Flight {
    // The leader and those who wait are its members.
    std::optional<neptune::SharedCancellation> shared{std::in_place};
    Waiters waiters = {};
  };

  Seat Await(const std::string& key, neptune::TimePoint deadline, Waiter* self) {
    const neptune::WakeWhenCancelled wake(self->caller, self->thread);
    bool stops = false;
    while (true) {
      {
        neptune::LeafLock lock(&mutex_);
        if (!self->is_in_flight) return SeatAfterWait(key, self);
        if (stops) return Leave(key, FlightRole::kStopped, self);
        if (self->is_gone()) return Leave(key, FlightRole::kGone, self);
        if (neptune::this_thread::Now() >= deadline) return Leave(key, FlightRole::kLate, self);
      }
      stops = neptune::this_thread::Park(deadline) == neptune::ParkResult::kStopping;
    }
  }

  Seat Leave(const std::string& key, FlightRole role, Waiter* self)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::erase(flights_[key].waiters, self);
    --waiter_count_;
    return Seat(nullptr, {}, role);
  }

  Seat SeatAfterWait(const std::string& key, Waiter* self) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Seat seat = self->leads ? LeadingSeat(key, self) : Seat(nullptr, {}, FlightRole::kLanded);
    seat.value_ = std::move(self->value);
    seat.has_waited_ = true;
    return seat;
  }

  Seat LeadingSeat(const std::string& key, Waiter* self) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Seat seat(this, key, FlightRole::kLeads);
    seat.call_ = flights_[key].shared->call();
    seat.membership_ = std::exchange(self->membership, std::nullopt);
    return seat;
  }

  void HandOver(const std::string& key) {
    neptune::ThreadRef next;
    {
      neptune::LeafLock lock(&mutex_);
      const auto entry = flights_.find(key);
      Flight& flight = entry->second;
      if (flight.waiters.empty()) {
        flights_.erase(entry);
        return;
      }
      if (flight.shared->ended()) Renew(&flight);
      Waiter* const first = flight.waiters.front();
      flight.waiters.pop_front();
      --waiter_count_;
      first->is_in_flight = false;
      first->leads = true;
      next = first->thread;
    }
    next->Wake();
  }

  // All had left, so the work was ended; those who have come since want it still.
  static void Renew(Flight* flight) {
    flight->shared.emplace();
    for (Waiter* const waiter : flight->waiters) {
      waiter->membership = flight->shared->Join(waiter->caller);
    }
  }

  template <typename Make>
  void Deliver(const std::string& key, Make& make) {
    std::vector<neptune::ThreadRef> woken;
    {
      neptune::LeafLock lock(&mutex_);
      const auto entry = flights_.find(key);
      const Flight flight = std::move(entry->second);
      flights_.erase(entry);
      waiter_count_ -= flight.waiters.size();
      const auto value = flight.waiters.empty() ? nullptr : std::make_shared<const Value>(make());
      for (Waiter* const waiter : flight.waiters) {
        waiter->is_in_flight = false;
        waiter->value = value;
        woken.push_back(waiter->thread);
      }
    }
    for (const neptune::ThreadRef& thread : woken) thread->Wake();
  }

  const size_t waiter_count_max_;
  mutable neptune::LeafMutex mutex_;
  absl::flat_hash_map<std::string, Flight> flights_ ABSL_GUARDED_BY(mutex_);
  size_t waiter_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace search::frontend
