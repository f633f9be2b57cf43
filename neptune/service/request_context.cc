#include "neptune/service/request_context.h"

#include <algorithm>

#include "neptune/sert/time_limit.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {

bool IsCancelled(const IncomingCall& call) { return call.cancelled(); }

TimePoint RequestContext::Now() const { return Loop::Current()->Now(); }

bool RequestContext::ShouldStop() const {
  if (call_ != nullptr && call_->cancelled()) return true;
  const TimePoint now = Now();
  return now >= terms_.deadline || (limited_ != nullptr && limited_->Over(now));
}

bool RequestContext::ended_early() const { return limited_ != nullptr && limited_->over(); }

Status RequestContext::SleepUntil(TimePoint when) const {
  const CancelAction wake_me(call_.get(),
                             [self = ThreadRef(UserThread::Current())] { self->Wake(); });
  while (Now() < when) {
    if (call_ != nullptr && call_->cancelled()) return Cancelled("the caller is gone");
    if (Now() >= terms_.deadline) return DeadlineExceeded("the deadline of the request passed");
    if (this_thread::Park(std::min(when, terms_.deadline)) == ParkResult::kStopping) {
      return Cancelled("the node stops");
    }
  }
  return OkStatus();
}

}  // namespace neptune
