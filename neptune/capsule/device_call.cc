#include "neptune/capsule/device_call.h"

#include <atomic>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/main_pool.h"
#include "neptune/thread/synchronization.h"

namespace neptune {

// A device call from its caller's view.
class DeviceCall {
 public:
  DeviceCall(CapsuleStack& stack, std::string_view path, DeviceWait wait)
      : stack_(stack), path_(path), wait_(wait) {}

  Status Run(Task call, const VisitOptions& options) {
    NEPTUNE_RETURN_IF_ERROR(visit_.Enter(stack_, DeviceOperation{path_}, options));
    if (!visit_.inside()) {  // no capsule takes the path
      call();
      return OkStatus();
    }
    if (!Start(std::move(call))) {
      visit_.Leave(CapsuleOutcome::kDone);
      return OkStatus();
    }
    return Await(options);
  }

 private:
  // State shared by the caller and the helper thread or modelled device. Its fate is decided once:
  // the call ends, or the caller abandons it, whichever comes first.
  struct Shared {
    enum class Fate { kRuns, kEnded, kAbandoned };

    Shared(std::shared_ptr<Capsule> entered, Loop* callers_loop, Task work)
        : capsule(std::move(entered)),
          caller(UserThread::Current()),
          loop(callers_loop),
          call(std::move(work)) {}
    const std::shared_ptr<Capsule> capsule;
    const ThreadRef caller;
    Loop* const loop;
    Task call;
    std::atomic<Fate> fate{Fate::kRuns};

    bool HasEnded() const { return fate.load(std::memory_order_acquire) == Fate::kEnded; }
    // The caller continues without the call; false if the call has ended.
    bool Abandon() {
      Fate expected = Fate::kRuns;
      return fate.compare_exchange_strong(expected, Fate::kAbandoned, std::memory_order_acq_rel);
    }
    // Runs on any kernel thread.
    void End() {
      if (fate.exchange(Fate::kEnded, std::memory_order_acq_rel) == Fate::kAbandoned) {
        capsule->EndProcessing(loop->Now());
      } else {
        caller->Wake();
      }
    }
    void RunHere() {
      call();
      call = nullptr;  // destroy its captures here, where blocking is allowed
      End();
    }
  };

  // Starts the call; false if it has already run to its end.
  bool Start(Task call) {
    std::shared_ptr<Capsule> capsule = visit_.capsule_.Share();
    Loop* const loop = Loop::Current();
    if (HelperThreads* const helpers = capsule->helpers()) {
      shared_ = std::make_shared<Shared>(std::move(capsule), loop, std::move(call));
      helpers->Run([shared = shared_] { shared->RunHere(); });
      return true;
    }
    call();
    const Duration time =
        stack_.options().device_time ? stack_.options().device_time(path_) : Duration(0);
    if (time <= Duration(0)) return false;
    shared_ = std::make_shared<Shared>(std::move(capsule), loop, nullptr);
    loop->RunAt(AddSaturated(loop->Now(), time), [shared = shared_] { shared->End(); });
    return true;
  }

  Status Await(const VisitOptions& options) {
    const OutsideMainPool outside;
    int wake_count = 0;
    Status status;
    while (!shared_->HasEnded() && status.ok()) {
      if (wait_ == DeviceWait::kForEnd) {
        this_thread::ParkUntilWoken();
        ++wake_count;
        continue;
      }
      if (options.given_up && options.given_up()) {
        status = Cancelled(visit_.Where(), ": the call to ", path_, " was cancelled");
        break;
      }
      const ParkResult result = this_thread::Park(visit_.deadline());
      if (result == ParkResult::kWoken) ++wake_count;
      if (result == ParkResult::kDeadline) {
        status = DeadlineExceeded(visit_.Where(), ": the call to ", path_, " timed out");
      }
      if (result == ParkResult::kStopping) {
        status = Cancelled(visit_.Where(), ": the scheduler is stopping");
      }
    }
    const bool abandoned = !status.ok() && shared_->Abandon();
    if (wake_count > (abandoned ? 0 : 1)) UserThread::Current()->Wake();
    if (!abandoned) {
      visit_.Leave(CapsuleOutcome::kDone);
      return OkStatus();
    }
    visit_.End(status.code() == StatusCode::kDeadlineExceeded ? CapsuleOutcome::kTimedOut
                                                              : CapsuleOutcome::kCancelled,
               /*left_behind=*/true);
    return status;
  }

  CapsuleStack& stack_;
  const std::string_view path_;
  const DeviceWait wait_;
  CapsulePermit visit_;
  std::shared_ptr<Shared> shared_;
};

Status RunTaskOnDevice(CapsuleStack& stack, std::string_view path, Task call,
                       const VisitOptions& options, DeviceWait wait) {
  return DeviceCall(stack, path, wait).Run(std::move(call), options);
}

Status MakeDeviceCapsule(CapsuleStack& stack, const std::string& name, const std::string& folder) {
  if (stack.Find(DeviceOperation{folder + "/any"}) != nullptr) return OkStatus();
  CapsuleConfig config;
  config.name = name;
  config.type = ResourceType::kDevice;
  NEPTUNE_ASSIGN_OR_RETURN(auto rule, ClassificationRule::Parse(StrCat("disk:", folder, "/**")));
  config.rules.push_back(std::move(rule));
  return stack.Create(config);
}

}  // namespace neptune
