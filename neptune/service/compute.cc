#include "neptune/service/compute.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "neptune/base/blocking_mutex.h"
#include "neptune/sert/time_limit.h"
#include "neptune/thread/thread_specific.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {
namespace {

// Larger: a request computes longer after it has to stop. Smaller: the watch thread runs more
// often.
constexpr Duration kLookInterval = std::chrono::milliseconds(1);

const ThreadSpecific<LimitedRequest>& Limits() {
  static ThreadSpecific<LimitedRequest> limit;
  return limit;
}

// The kernel thread that polls the running computations.
class Watch {
 public:
  static Watch& OfProcess() {
    static Watch watch;
    return watch;
  }

  void Add(const WatchedCompute* one) {
    BlockingLock lock(&mutex_);
    if (watched_.empty()) changed_.Signal();
    watched_.push_back(one);
  }
  void Remove(const WatchedCompute* one) {
    BlockingLock lock(&mutex_);
    watched_.erase(std::find(watched_.begin(), watched_.end(), one));
  }

 private:
  Watch() : thread_([this] { Run(); }) {}
  ~Watch() {
    {
      BlockingLock lock(&mutex_);
      ends_ = true;
      changed_.Signal();
    }
    thread_.join();
  }

  void Run() {
    BlockingLock lock(&mutex_);
    while (!ends_) {
      if (watched_.empty()) {
        changed_.Wait(&mutex_);
      } else {
        (void)changed_.WaitFor(&mutex_, kLookInterval);
      }
      for (const WatchedCompute* const one : watched_) one->InterruptIfDue();
    }
  }

  BlockingMutex mutex_;
  BlockingCondition changed_;
  std::vector<const WatchedCompute*> watched_ ABSL_GUARDED_BY(mutex_);
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, because it uses the other members
};

}  // namespace

void SetLimitOfThread(LimitedRequest* limited) { Limits().set(limited); }
LimitedRequest* LimitOfThread() { return Limits().get(); }

WatchedCompute::WatchedCompute(const RequestContext& context, ComputeRegion& region)
    : context_(context),
      region_(region),
      loop_(*Loop::Current()),
      limited_(LimitOfThread()),
      is_watched_(!context.world().processors().models_time()) {
  if (is_watched_) Watch::OfProcess().Add(this);
}

WatchedCompute::~WatchedCompute() {
  if (is_watched_) Watch::OfProcess().Remove(this);
}

void WatchedCompute::InterruptIfDue() const {
  const TimePoint now = loop_.Now();
  const bool is_gone = context_.call() != nullptr && context_.call()->cancelled();
  if (is_gone || now >= context_.deadline() || (limited_ != nullptr && limited_->Over(now))) {
    region_.Interrupt();
  }
}

}  // namespace neptune
