// Ends calls that are made on behalf of no request, such as those of a module's own thread, or a
// part of what is done for a request, before the rest.
//
//   const RequestContext origin({partition, deadline}, cancellation.call(), world);
//   ClientSession session(client, origin);   // its calls end with kCancelled after Cancel
//
//   Cancellation part(session.shared_caller());
//   ClientSession own = session.EndedBy(part.call());  // ends after part.Cancel or with the whole
//
// Threads: thread-safe.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "neptune/thread/user_thread.h"

namespace neptune {

class IncomingCall;

class Cancellation {
 public:
  Cancellation() : Cancellation(nullptr) {}
  // Also cancelled when `whole` is, while this object lives; null: of no request.
  explicit Cancellation(std::shared_ptr<IncomingCall> whole);
  ~Cancellation();
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  // Ends the calls in progress and all later ones. Idempotent.
  void Cancel();
  const std::shared_ptr<IncomingCall>& call() const { return call_; }

 private:
  const std::shared_ptr<IncomingCall> call_;
  const std::shared_ptr<IncomingCall> whole_;  // may be null
  const uint64_t action_;                      // of the whole
};

// Wakes a parked thread when a call is cancelled, while this object lives; at once if it already
// is.
class WakeWhenCancelled {
 public:
  // A null call is never cancelled.
  WakeWhenCancelled(std::shared_ptr<IncomingCall> call, ThreadRef thread);
  ~WakeWhenCancelled();
  WakeWhenCancelled(const WakeWhenCancelled&) = delete;
  WakeWhenCancelled& operator=(const WakeWhenCancelled&) = delete;

 private:
  const std::shared_ptr<IncomingCall> call_;
  const uint64_t action_;
};

// One computation for several callers, which ends when all of them have left.
//
//   caller A ── Join ──┐
//   caller B ── Join ──┼─► call(): cancelled when the last one has left
//   caller C ── Join ──┘
//
// The computation runs with call() in place of a caller's own. A caller leaves when its call is
// cancelled, or when its membership is destroyed, for instance because its deadline passed. Once
// all have left the computation ends, and the next caller has to begin another one. The
// cancellation runs on the thread of the caller that left last.
class SharedCancellation {
 public:
  SharedCancellation();

  // A caller that waits for the computation; leaves when it is destroyed.
  class Member {
   public:
    Member(Member&& other) noexcept { *this = std::move(other); }
    Member& operator=(Member&& other) noexcept;
    ~Member() { Leave(); }

    void Leave();

   private:
    friend class SharedCancellation;
    struct Place;
    explicit Member(std::shared_ptr<Place> place) : place_(std::move(place)) {}
    std::shared_ptr<Place> place_;  // null: has left
  };

  // Adds a caller. `caller`: its call; null: it never leaves by itself. If all earlier callers have
  // left, the computation has ended already; see ended.
  Member Join(std::shared_ptr<IncomingCall> caller);

  // Keeps the computation going whatever callers do, for instance once its result is complete and
  // is of use to others.
  void Complete();

  bool ended() const;
  size_t member_count() const;
  const std::shared_ptr<IncomingCall>& call() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace neptune
