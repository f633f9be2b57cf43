#include "neptune/sert/compute_region.h"

#include <cxxabi.h>
#include <glog/logging.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "neptune/base/leaf_mutex.h"
#include "neptune/sert/code_ranges.h"
#include "neptune/sert/interrupted_context.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

// Exception state of a thread in the C++ ABI: handled exceptions, and the number of exceptions in
// flight.
struct ExceptionGlobals {
  void* handled;
  unsigned thrown_count;
};
ExceptionGlobals& Exceptions() {
  return *reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals());
}

// The code that contains bodies.
constinit sert::CodeRanges body_code;

__attribute__((tls_model("initial-exec"))) thread_local ComputeRegion* current = nullptr;

// A region separate from process_arena_region, which a preloaded library may use for whole
// requests. Never destroyed, because threads may outlive main.
ArenaRegion& Memory() {
  static ArenaRegion& region = *new ArenaRegion(kArenaRegionSize);
  return region;
}

}  // namespace

// The signal that interrupts runs.
struct ComputeSignal {
  // Returns the signal's number; 0: no signal is free.
  static int Number() {
    static const int number = Install();
    return number;
  }

  // Installs the handler for the highest unused real-time signal.
  static int Install() {
    for (int signum = SIGRTMAX - 1; signum > SIGRTMIN; --signum) {
      struct sigaction present {};
      if (sigaction(signum, nullptr, &present) != 0) continue;
      const bool is_free = (present.sa_flags & SA_SIGINFO) == 0 && present.sa_handler == SIG_DFL;
      if (!is_free) continue;
      struct sigaction ours {};
      ours.sa_sigaction = &Handle;
      ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
      sigfillset(&ours.sa_mask);
      if (sigaction(signum, &ours, nullptr) == 0) return signum;
    }
    LOG(WARNING) << "no signal is free: compute regions cannot be interrupted";
    return 0;
  }

  // Called once on each kernel thread that runs a body.
  static void PrepareThread() {
    struct Preparation {
      Preparation() : stack(sert::GiveAlternateStack()) {
        sigset_t ours;
        sigemptyset(&ours);
        if (Number() != 0) sigaddset(&ours, Number());
        pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
      }
      ~Preparation() { sert::AdoptAlternateStack(stack); }
      void* const stack;
    };
    static thread_local Preparation preparation;
    (void)preparation;
  }

  static void Handle(int, siginfo_t* info, void* raw_context) {
    ComputeRegion* const region = current;
    if (region == nullptr || info->si_code != SI_QUEUE || info->si_pid != getpid()) return;
    const uint64_t asked = reinterpret_cast<uintptr_t>(info->si_value.sival_ptr);
    uint64_t arrived = asked;
    region->signalled_.compare_exchange_strong(arrived, 0, std::memory_order_relaxed);
    if (region->run_.load(std::memory_order_relaxed) != asked)
      return;  // the signal was for an earlier run
    region->asked_ = 1;
#ifndef __SANITIZE_THREAD__  // it calls handlers late, with a copy of the interrupted context
    auto* const context = static_cast<ucontext_t*>(raw_context);
    if (!body_code.Contains(sert::CodeAt(*context)) || !region->MayBeTaken()) return;
    region->depth_ = 1;
    sert::GoOnIn(context, &Take);
#endif
  }

  [[noreturn]] static void Take() { _longjmp(current->back_, 1); }
};

ComputeMemory::ComputeMemory(ComputeRegion& region) : region_(region), arena_(Memory()) {}

void* ComputeMemory::do_allocate(size_t size, size_t alignment) {
  region_.Enter();
  void* const object = arena_.Allocate(size, alignment);
  region_.Leave();
  if (object == nullptr) throw std::bad_alloc();
  return object;
}

void ComputeMemory::do_deallocate(void* object, size_t, size_t) {
  region_.Enter();
  RequestArena::Free(object, &arena_);
  region_.Leave();
}

bool ComputeRegion::RunErased(ErasedBody body, void* argument) {
  Begin();
  const void* const code = reinterpret_cast<const void*>(body);
  if (!body_code.Contains(code)) body_code.AddLibraryOf(code);
  if (_setjmp(back_) != 0) {
    End();
    memory_.arena_.Drop();
    return false;
  }
  struct Running {
    ComputeRegion& region;
    ~Running() { region.End(); }
  } running{*this};
  depth_ = 0;
  body(argument, memory_);
  return true;
}

void ComputeRegion::Begin() {
  static std::atomic<uint64_t> run_count{0};
  CHECK(current == nullptr) << "compute regions do not nest, and their bodies do not park";
  CHECK(!LeafMutex::HeldByThisThread()) << "a compute region while a LeafMutex is held";
  owner_ = UserThread::Current();
  ComputeSignal::PrepareThread();
  handled_exceptions_ = Exceptions().handled;
  thrown_count_ = Exceptions().thrown_count;
  depth_ = 1;
  asked_ = 0;
  current = this;
  thread_id_.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_relaxed);
  run_.store(++run_count, std::memory_order_release);
}

void ComputeRegion::End() {
  depth_ = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  run_.store(0, std::memory_order_relaxed);
  current = nullptr;
}

void ComputeRegion::Enter() {
  depth_ = depth_ + 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void ComputeRegion::Leave() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  depth_ = depth_ - 1;
  if (asked_ == 0 || !MayBeTaken()) return;
  depth_ = 1;
  ComputeSignal::Take();
}

bool ComputeRegion::MayBeTaken() const {
  if (depth_ != 0 || LeafMutex::HeldByThisThread() || UserThread::Current() != owner_) return false;
  const ExceptionGlobals& now = Exceptions();
  return now.handled == handled_exceptions_ && now.thrown_count == thrown_count_;
}

void ComputeRegion::Interrupt() {
  const uint64_t run = run_.load(std::memory_order_acquire);
  if (run == 0 || ComputeSignal::Number() == 0) return;
  // One signal at a time: a thread with a queue of them runs the handler again before it executes
  // the next instruction, and comes to nothing else if signals are sent as fast as it handles them.
  if (signalled_.exchange(run, std::memory_order_relaxed) == run) return;
  siginfo_t info{};
  info.si_signo = ComputeSignal::Number();
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = reinterpret_cast<void*>(static_cast<uintptr_t>(run));
  const int64_t failed = syscall(SYS_rt_tgsigqueueinfo, getpid(),
                                 thread_id_.load(std::memory_order_relaxed), info.si_signo, &info);
  if (failed != 0) signalled_.store(0, std::memory_order_relaxed);  // the next call tries again
}

ComputeRegion::Outside::Outside() : region_(current) {
  if (region_ != nullptr) region_->Enter();
}

ComputeRegion::Outside::~Outside() {
  if (region_ != nullptr) region_->Leave();
}

}  // namespace neptune
