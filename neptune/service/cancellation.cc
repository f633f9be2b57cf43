#include "neptune/service/cancellation.h"

#include <atomic>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {

Cancellation::Cancellation(std::shared_ptr<IncomingCall> whole)
    : call_(std::make_shared<IncomingCall>()),
      whole_(std::move(whole)),
      action_(whole_ == nullptr ? 0 : whole_->OnCancel([call = call_] { call->Cancel(); })) {}

Cancellation::~Cancellation() {
  if (whole_ != nullptr) whole_->Forget(action_);
}

void Cancellation::Cancel() { call_->Cancel(); }

WakeWhenCancelled::WakeWhenCancelled(std::shared_ptr<IncomingCall> call, ThreadRef thread)
    : call_(std::move(call)),
      action_(call_ == nullptr ? 0 : call_->OnCancel([thread = std::move(thread)] {
        thread->Wake();
      })) {}

WakeWhenCancelled::~WakeWhenCancelled() {
  if (call_ != nullptr) call_->Forget(action_);
}

struct SharedCancellation::State {
  const std::shared_ptr<IncomingCall> call = std::make_shared<IncomingCall>();
  mutable LeafMutex mutex;
  size_t member_count ABSL_GUARDED_BY(mutex) = 0;
  bool is_complete ABSL_GUARDED_BY(mutex) = false;

  void Leave() {
    {
      LeafLock lock(&mutex);
      if (--member_count > 0 || is_complete) return;
    }
    call->Cancel();
  }
};

// A caller's place leaves once, whether its call is cancelled or its membership ends first.
struct SharedCancellation::Member::Place {
  std::shared_ptr<State> state;
  std::shared_ptr<IncomingCall> caller;  // may be null
  std::atomic<bool> has_left{false};
  uint64_t action = 0;

  void Leave() {
    if (!has_left.exchange(true)) state->Leave();
  }
};

SharedCancellation::SharedCancellation() : state_(std::make_shared<State>()) {}

SharedCancellation::Member SharedCancellation::Join(std::shared_ptr<IncomingCall> caller) {
  auto place = std::make_shared<Member::Place>();
  place->state = state_;
  place->caller = std::move(caller);
  {
    LeafLock lock(&state_->mutex);
    ++state_->member_count;
  }
  if (place->caller != nullptr) {
    place->action = place->caller->OnCancel([weak = std::weak_ptr<Member::Place>(place)] {
      if (const auto left = weak.lock()) left->Leave();
    });
  }
  return Member(std::move(place));
}

SharedCancellation::Member& SharedCancellation::Member::operator=(Member&& other) noexcept {
  Leave();
  place_ = std::move(other.place_);
  return *this;
}

void SharedCancellation::Member::Leave() {
  const std::shared_ptr<Place> place = std::move(place_);
  place_ = nullptr;
  if (place == nullptr) return;
  if (place->caller != nullptr) place->caller->Forget(place->action);
  place->Leave();
}

void SharedCancellation::Complete() {
  LeafLock lock(&state_->mutex);
  state_->is_complete = true;
}

bool SharedCancellation::ended() const { return state_->call->cancelled(); }

size_t SharedCancellation::member_count() const {
  LeafLock lock(&state_->mutex);
  return state_->member_count;
}

const std::shared_ptr<IncomingCall>& SharedCancellation::call() const { return state_->call; }

}  // namespace neptune
