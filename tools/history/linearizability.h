// Checks whether a history of concurrent operations has an order in which each operation returned
// what a sequential object would have returned.
//
// The search of Wing and Gong with Lowe's improvement: it takes the operations in the order of
// their calls, backtracks when an operation that must have taken effect cannot, and never visits
// the same state with the same operations done twice. An operation whose outcome is not known may
// have taken effect at any time since its call, or never.
//
// Source: [Wing93]; [Lowe17]; [Herlihy90] (histories of different objects are checked separately).
// Threads: pure functions.
// Shapes: a Model has Operation (with invoked and returned, kNever: its outcome is not known),
//   State (hashed by AbslHashValue, compared by ==, State() is the initial one), and static bool
//   Step(const Operation&, State*): whether the operation could have returned its result in this
//   state; if so, applies it. static bool OnlyLooks(const Operation&): true for an operation that
//   never changes the state; it is taken as soon as it fits, because waiting cannot help.
// Limits: configuration_count_max states are remembered, 16 bytes and a State each; then the search
//   gives up.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "neptune/base/time.h"

namespace search::history {

enum class Verdict { kLinearizable, kNotLinearizable, kGaveUp };

struct LinearizabilityResult {
  Verdict verdict = Verdict::kLinearizable;
  // Not linearizable: the operation that had to take effect but could not, in the attempt that
  // applied the most operations.
  size_t stuck_at = 0;
};

inline constexpr size_t kConfigurationCountMax = 2'000'000;

namespace internal {

// Calls and returns in the order of time; completed operations are removed and can be reinserted in
// reverse order.
class EventList {
 public:
  static constexpr size_t kEnd = 0;  // also the list's head

  struct Event {
    size_t operation = 0;
    bool is_call = false;
    neptune::TimePoint at{};
    size_t next = kEnd;
    size_t previous = kEnd;
    size_t match = kEnd;  // for a call: its return, if there is one
  };

  template <typename Operation>
  explicit EventList(const std::vector<Operation>& operations) {
    events_.emplace_back();
    for (size_t i = 0; i < operations.size(); ++i) {
      events_.push_back({i, true, operations[i].invoked});
      if (operations[i].returned != neptune::kNever)
        events_.push_back({i, false, operations[i].returned});
    }
    // If one operation returns at the instant at which another is called, either may come first.
    std::stable_sort(events_.begin() + 1, events_.end(), [](const Event& a, const Event& b) {
      return a.at != b.at ? a.at < b.at : a.is_call > b.is_call;
    });
    std::vector<size_t> calls(operations.size());
    for (size_t i = 1; i < events_.size(); ++i) {
      Event& event = events_[i];
      event.previous = i - 1;
      event.next = i + 1 == events_.size() ? kEnd : i + 1;
      if (event.is_call) calls[event.operation] = i;
      if (!event.is_call) events_[calls[event.operation]].match = i;
    }
    events_[kEnd].next = events_.size() > 1 ? 1 : kEnd;
  }

  const Event& operator[](size_t i) const { return events_[i]; }
  size_t first() const { return events_[kEnd].next; }
  void Lift(size_t call) {
    Unlink(call);
    if (events_[call].match != kEnd) Unlink(events_[call].match);
  }
  void Unlift(size_t call) {
    if (events_[call].match != kEnd) Link(events_[call].match);
    Link(call);
  }

 private:
  void Unlink(size_t i) {
    events_[events_[i].previous].next = events_[i].next;
    if (events_[i].next != kEnd) events_[events_[i].next].previous = events_[i].previous;
  }
  void Link(size_t i) {
    events_[events_[i].previous].next = i;
    if (events_[i].next != kEnd) events_[events_[i].next].previous = i;
  }

  std::vector<Event> events_;
};

// A set of operations, as the XOR of a random 128-bit number per operation, so that its cost does
// not depend on its size. Two sets in a history of millions of states collide once in 10^25
// histories.
class OperationSet {
 public:
  // Adds operation `i`, or removes it if it is in the set.
  void Toggle(size_t i) {
    first_ ^= Mixed(2 * i + 1);
    second_ ^= Mixed(2 * i + 2);
  }
  friend bool operator==(const OperationSet&, const OperationSet&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const OperationSet& set) {
    return H::combine(std::move(state), set.first_, set.second_);
  }

 private:
  static uint64_t Mixed(uint64_t value) {  // splitmix64
    value *= 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
  }
  uint64_t first_ = 0;
  uint64_t second_ = 0;
};

}  // namespace internal

template <typename Model>
LinearizabilityResult CheckLinearizability(
    const std::vector<typename Model::Operation>& operations,
    size_t configuration_count_max = kConfigurationCountMax) {
  using State = typename Model::State;
  struct Step {
    size_t call;
    State before;
    bool is_final;  // no alternative needs to be tried
  };
  internal::EventList events(operations);
  internal::OperationSet done;
  absl::flat_hash_set<std::pair<internal::OperationSet, State>> seen;
  std::vector<Step> steps;
  State state{};
  LinearizabilityResult result;
  size_t most_done = 0;
  // Operations with a known outcome that have not yet taken effect.
  size_t open_count =
      static_cast<size_t>(std::count_if(operations.begin(), operations.end(), [](const auto& o) {
        return o.returned != neptune::kNever;
      }));
  const auto is_known = [](const auto& operation) { return operation.returned != neptune::kNever; };
  // The first call that may be taken next and does not change the state, or else the first call.
  const auto first_to_take = [&] {
    for (size_t i = events.first(); i != internal::EventList::kEnd && events[i].is_call;
         i = events[i].next) {
      const auto& operation = operations[events[i].operation];
      if (Model::OnlyLooks(operation) && Model::Step(operation, &state)) return i;
    }
    return events.first();
  };

  for (size_t at = first_to_take(); open_count > 0;) {
    const auto& event = events[at];
    if (event.is_call) {
      State after = state;
      done.Toggle(event.operation);
      const bool is_possible = Model::Step(operations[event.operation], &after);
      if (is_possible && seen.insert({done, after}).second) {
        if (seen.size() > configuration_count_max) return {Verdict::kGaveUp, event.operation};
        steps.push_back({at, std::exchange(state, std::move(after)),
                         Model::OnlyLooks(operations[event.operation])});
        events.Lift(at);
        if (is_known(operations[event.operation])) --open_count;
        at = first_to_take();
        continue;
      }
      done.Toggle(event.operation);
      at = event.next;
      continue;
    }
    // This operation had returned, so no later one can precede it.
    if (steps.size() >= most_done) {
      most_done = steps.size();
      result.stuck_at = event.operation;
    }
    bool is_final = true;
    while (is_final && !steps.empty()) {
      Step last = std::move(steps.back());
      steps.pop_back();
      state = std::move(last.before);
      const size_t operation = events[last.call].operation;
      done.Toggle(operation);
      events.Unlift(last.call);
      if (is_known(operations[operation])) ++open_count;
      at = events[last.call].next;
      is_final = last.is_final;
    }
    if (is_final) {
      result.verdict = Verdict::kNotLinearizable;
      return result;
    }
  }
  return result;
}

}  // namespace search::history
