// A call of the C library that may have to wait for a descriptor.
//
//   BlockingCall call(number, POLLIN);
//   do {
//     result = RealLibc().read(...);                        tried first: most calls need not wait
//   } while (result < 0 && call.WaitToRepeat());            EAGAIN: parks until it may retry
//   return call.End(result);                                preserves errno if nothing failed
//
// On a user-level thread a wait parks the thread. On other threads a descriptor that parks is
// waited for with poll(2), so it blocks as the program expects. Calls on all other descriptors
// behave as without this library.
//
// Source: [Chu05] V.B, V.C.
// Threads: lives on the stack of the calling thread.
// Errors, as errno: those of the call; EAGAIN after SO_RCVTIMEO or SO_SNDTIMEO; EBADF if the
//   descriptor is closed meanwhile; README.md lists those of capsules and of a stopping node.

#pragma once

#include <cerrno>
#include <memory>
#include <optional>

#include "neptune/interpose/call_permit.h"
#include "neptune/interpose/descriptor_table.h"
#include "neptune/thread/user_thread.h"

namespace neptune::interpose {

// The calling user-level thread, if it may park here; else null, and a wait blocks the kernel
// thread.
UserThread* ParkingThread();

// True if descriptors that the caller opens are tracked: on user-level threads, and on all threads
// after TrackEverywhere, for programs whose plain threads open descriptors for user-level threads.
bool TracksHere();
void TrackEverywhere();
// Tracks the sockets that the process has inherited. They become non-blocking, also for processes
// that share them; therefore pipes and terminals are not tracked.
void TrackInheritedSockets();

class BlockingCall {
 public:
  // `events` to wait for: POLLIN or POLLOUT.
  BlockingCall(int number, short events);
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

  // True if the descriptor was made non-blocking, so that the call must be repeated here.
  bool parks() const { return descriptor_ != nullptr && descriptor_->parks(); }
  // True if the program expects the call to wait. REQUIRES: parks().
  bool Waits();
  // After a failed call: waits, and returns true if the call must be repeated; else sets errno.
  bool WaitToRepeat() {
    return errno == EAGAIN && descriptor_ != nullptr && descriptor_->parks() && Wait();
  }
  // Like WaitToRepeat after EAGAIN. False: errno has the reason.
  bool Wait();
  // Waits for `pause`, or until the time limit, if readiness cannot be polled.
  bool Pause(Duration pause);
  template <typename Result>
  Result End(Result result) {
    if (result >= 0 && file_ != nullptr) Succeed();
    return result;
  }

 private:
  bool Begin();
  bool WaitParked(UserThread* thread);
  // Registers the waiter before the first park. False: the descriptor cannot be watched.
  bool BeginToPark(UserThread* thread);
  bool WaitBlocked();
  // Enters the capsule before the first wait. False: errno has the reason.
  bool BeginToWait();
  void Succeed() {
    errno = errno_before_;
    stay_.Succeed();
  }
  bool TimeOut();
  bool Stop();
  bool Interrupt();
  // SO_RCVTIMEO or SO_SNDTIMEO; zero: none.
  Duration Timeout() const;

  const int number_;
  const short events_;
  const int errno_before_;
  Descriptor* const descriptor_;
  std::shared_ptr<OpenFile> file_;  // set once the call had to wait
  TimePoint deadline_ = kNever;
  bool has_begun_to_wait_ = false;
  CallPermit stay_;
  std::optional<DescriptorWatch::Waiter> waiter_;
};

// Repeats `call` until it does not have to wait.
template <typename Call>
auto Repeat(int number, short events, Call call) {
  BlockingCall blocking(number, events);
  auto result = call();
  while (result < 0 && blocking.WaitToRepeat()) result = call();
  return blocking.End(result);
}

}  // namespace neptune::interpose
