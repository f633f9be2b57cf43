// One call of the C library that may have to wait for a descriptor.
//
//   BlockingCall call(number, POLLIN);
//   do {
//     result = RealLibc().read(...);                        made first: most calls need not wait
//   } while (result < 0 && call.WaitToRepeat());            EAGAIN: parks until it may go on
//   return call.End(result);                                errno is as it was if nothing failed
//
// On a user-level thread a wait parks it. On other threads a descriptor that parks is waited for with poll(2), so that
// it blocks there as the program expects. Calls on all other descriptors are as without this library.
//
// Source: [Chu05] V.B, V.C.
// Threads: on the stack of the thread that calls.
// Errors, as errno: that of the call; EAGAIN when SO_RCVTIMEO or SO_SNDTIMEO has passed; EBADF when the descriptor is
//   closed meanwhile; see README.md for what capsules and a stop of the node add.

#pragma once

#include <cerrno>
#include <memory>
#include <optional>

#include "neptune/interpose/call_permit.h"
#include "neptune/interpose/descriptor_table.h"
#include "neptune/thread/user_thread.h"

namespace neptune::interpose {

// The calling user-level thread, if it may park here; else null, and a wait blocks the kernel thread.
UserThread* ParkingThread();

// Whether what the caller opens is tracked: on user-level threads, and on all others too once TrackEverywhere was called,
// as for a program whose plain threads open what its user-level threads use.
bool TracksHere();
void TrackEverywhere();
// Tracks the sockets that the process has inherited. They become non-blocking underneath like its own, also for those that
// share them; so pipes and terminals are left alone.
void TrackInheritedSockets();

class BlockingCall {
 public:
  // `events`: what it waits for, POLLIN or POLLOUT.
  BlockingCall(int number, short events);
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

  // Whether the descriptor is non-blocking underneath, so that the call must be repeated and completed here.
  bool parks() const { return descriptor_ != nullptr && descriptor_->parks(); }
  // Whether the program expects the call to wait. REQUIRES: parks().
  bool Waits();
  // After a call has failed: whether it is to be made again. Else errno says why it ends.
  bool WaitToRepeat() {
    return errno == EAGAIN && descriptor_ != nullptr && descriptor_->parks() && Wait();
  }
  // As WaitToRepeat after EAGAIN. False: errno says why it ends.
  bool Wait();
  // Waits where nothing tells of readiness: for `pause`, or until the time limit.
  bool Pause(Duration pause);
  template <typename Result>
  Result End(Result result) {
    if (result >= 0 && file_ != nullptr) Succeed();
    return result;
  }

 private:
  bool Begin();
  bool WaitParked(UserThread* thread);
  // Where the thread waits from the first time on. False: it cannot wait there.
  bool BeginToPark(UserThread* thread);
  bool WaitBlocked();
  // Before the first wait. False: errno says why it may not wait.
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
  std::shared_ptr<OpenFile> file_;  // once it had to wait
  TimePoint deadline_ = kNever;
  bool has_begun_to_wait_ = false;
  CallPermit stay_;
  std::optional<DescriptorWatch::Waiter> waiter_;
};

// Makes `call` until it need not wait any more.
template <typename Call>
auto Repeat(int number, short events, Call call) {
  BlockingCall blocking(number, events);
  auto result = call();
  while (result < 0 && blocking.WaitToRepeat()) result = call();
  return blocking.End(result);
}

}  // namespace neptune::interpose
