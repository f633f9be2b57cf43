#include "neptune/interpose/blocking_call.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "neptune/base/leaf_mutex.h"
#include "neptune/interpose/forked_child.h"
#include "neptune/interpose/interruption.h"
#include "neptune/interpose/libc.h"

namespace neptune::interpose {
namespace {

std::atomic<bool> tracks_everywhere{false};

bool Fail(int error) {
  errno = error;
  return false;
}

}  // namespace

UserThread* ParkingThread() {
  UserThread* const thread = UserThread::Current();
  if (thread == nullptr) return nullptr;
  NoticeForks();
  if (thread->scheduler().loop().readiness() == nullptr) return nullptr;
  if (LeafMutex::HeldByThisThread() || IsForkedChild()) return nullptr;
  return thread;
}

void TrackEverywhere() { tracks_everywhere.store(true, std::memory_order_relaxed); }

bool TracksHere() {
  return tracks_everywhere.load(std::memory_order_relaxed) || ParkingThread() != nullptr;
}

BlockingCall::BlockingCall(int number, short events)
    : number_(number), events_(events), errno_before_(errno), descriptor_(FindTracked(number)) {
  if (descriptor_ == nullptr || !descriptor_->blocks() || ParkingThread() == nullptr) return;
  descriptor_->PrepareToPark(number);
}

BlockingCall::~BlockingCall() {
  if (waiter_.has_value()) waiter_->Part();
}

bool BlockingCall::Begin() {
  if (file_ != nullptr) return true;
  file_ = descriptor_->file();
  return file_ != nullptr || Fail(EBADF);
}

bool BlockingCall::Waits() { return Begin() && !file_->nonblocking; }

Duration BlockingCall::Timeout() const {
  return (events_ & POLLIN) != 0 ? file_->receive_timeout.load() : file_->send_timeout.load();
}

bool BlockingCall::Wait() {
  UserThread* const thread = ParkingThread();
  if (thread != nullptr) return WaitParked(thread);
  if (!Begin()) return false;
  return file_->nonblocking ? Fail(EAGAIN) : WaitBlocked();
}

// Blocks in poll(2), as the system would for a blocking descriptor.
bool BlockingCall::WaitBlocked() {
  pollfd one = {number_, events_, 0};
  const Duration timeout = Timeout();
  const int64_t timeout_ms =
      timeout == Duration(0) ? -1 : std::max<int64_t>(1, ToMicros(timeout) / 1000);
  const int ready = RealLibc().poll(&one, 1, static_cast<int>(timeout_ms));
  if (ready == 0) return Fail(EAGAIN);
  return ready > 0;
}

// The call's and the capsule's time limits start at the first wait and cover all later ones.
bool BlockingCall::BeginToWait() {
  if (std::exchange(has_begun_to_wait_, true)) return true;
  const Duration timeout = Timeout();
  if (timeout != Duration(0)) deadline_ = AddSaturated(this_thread::Now(), timeout);
  if (CapsulesInUse() == nullptr) return true;
  return stay_.Enter(file_->dependency().get(), static_cast<uint64_t>(number_), &deadline_);
}

bool BlockingCall::TimeOut() { return Fail(stay_.TimeOut(EAGAIN)); }

bool BlockingCall::Stop() {
  stay_.Cancel();
  return Fail(ECANCELED);
}

bool BlockingCall::Interrupt() {
  stay_.Cancel();
  return Fail(EINTR);
}

bool BlockingCall::Pause(Duration pause) {
  if (ParkingThread() == nullptr) return RealLibc().poll(nullptr, 0, 1) >= 0;
  if (!BeginToWait()) return false;
  const TimePoint now = this_thread::Now();
  if (now >= deadline_) return TimeOut();
  const ParkResult result = this_thread::SleepUntil(std::min(deadline_, now + pause));
  return result != ParkResult::kStopping || Stop();
}

bool BlockingCall::BeginToPark(UserThread* thread) {
  Descriptor::Watched watched = descriptor_->WatchHere(number_, Descriptor::For::kCall);
  if (file_ == nullptr) file_ = std::move(watched.file);
  if (file_ == nullptr || (watched.file != nullptr && watched.file != file_)) return Fail(EBADF);
  if (file_->nonblocking) return Fail(EAGAIN);
  if (watched.watch == nullptr) return WaitBlocked();
  waiter_.emplace(thread, static_cast<uint32_t>(events_), DescriptorWatch::Waiter::Kind::kTakes);
  waiter_->Join(std::move(watched.watch));
  return BeginToWait();  // may park too, so the waiter must already be registered
}

bool BlockingCall::WaitParked(UserThread* thread) {
  if (!waiter_.has_value()) {
    if (!BeginToPark(thread)) return false;
    if (!waiter_.has_value()) return true;  // waited for by other means
  } else if (file_->nonblocking) {
    return Fail(EAGAIN);
  } else {
    waiter_->Rejoin();
  }
  while (!waiter_->notified()) {
    if (ConsumeInterruption() == Interruption::kEnd) return Interrupt();
    const ParkResult result = this_thread::Park(deadline_);
    if (waiter_->notified()) break;
    if (result == ParkResult::kDeadline) return TimeOut();
    if (result == ParkResult::kStopping) return Stop();
  }
  return !waiter_->watch().closed() || Fail(EBADF);
}

}  // namespace neptune::interpose
