#include "neptune/admin/profile/processor_sampler.h"

#include <sched.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace neptune {
namespace {

// The active sampler, and the number of handlers that may use it.
std::atomic<void*> active{nullptr};
std::atomic<int> handler_count{0};

#if defined(__x86_64__)
// Returns the caller of a function without a frame: a leaf function, or any function before its
// prologue. The return address is then on top of the stack, and follows a call of a function that
// begins shortly before `pc`. Returns 0 if the word is something else.
uintptr_t CallerOfLeaf(uintptr_t pc, uintptr_t stack, pid_t self) {
  constexpr uintptr_t kLeafSizeMax = 4096;
  constexpr size_t kCallSize = 5;
  constexpr unsigned char kCall = 0xe8;
  uintptr_t address = 0;
  unsigned char call[kCallSize];
  if (!ReadMemory(self, stack, &address, sizeof(address)) || address < kCallSize) return 0;
  if (!ReadMemory(self, address - kCallSize, call, kCallSize) || call[0] != kCall) return 0;
  int32_t distance = 0;
  std::memcpy(&distance, call + 1, sizeof(distance));
  const uintptr_t callee = address + static_cast<uintptr_t>(static_cast<intptr_t>(distance));
  return pc - callee < kLeafSizeMax ? address : 0;
}

void Walk(const ucontext_t& context, pid_t self, WalkedStack* sample) {
  const greg_t* const registers = context.uc_mcontext.gregs;
  const auto low = static_cast<uintptr_t>(registers[REG_RSP]);
  sample->addresses[0] = static_cast<uintptr_t>(registers[REG_RIP]);
  sample->depth = 1;
  const uintptr_t caller = CallerOfLeaf(sample->addresses[0], low, self);
  if (caller != 0) sample->addresses[sample->depth++] = caller - 1;
  WalkFrames(self, low, static_cast<uintptr_t>(registers[REG_RBP]), sample);
}
#else
#error "reading the registers of an interrupted thread is implemented for x86-64 only"
#endif

Status SetTimer(Duration period) {
  itimerval timer{};
  timer.it_interval.tv_usec = std::chrono::duration_cast<std::chrono::microseconds>(period).count();
  timer.it_value = timer.it_interval;
  if (setitimer(ITIMER_PROF, &timer, nullptr) == 0) return OkStatus();
  return Unavailable("cannot set ITIMER_PROF: error ", errno);
}

// The handler stays installed: a signal may be pending when a profile ends, and the default action
// would end the process.
Status InstallHandler(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction present {};
  if (sigaction(SIGPROF, nullptr, &present) != 0)
    return Unavailable("cannot install a SIGPROF handler");
  const bool has_info = (present.sa_flags & SA_SIGINFO) != 0;
  if (has_info && present.sa_sigaction == handler) return OkStatus();
  if (has_info || (present.sa_handler != SIG_DFL && present.sa_handler != SIG_IGN)) {
    return FailedPrecondition("other code in this process handles SIGPROF");
  }
  struct sigaction ours {};
  ours.sa_sigaction = handler;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&ours.sa_mask);
  if (sigaction(SIGPROF, &ours, nullptr) == 0) return OkStatus();
  return Unavailable("cannot install a SIGPROF handler");
}

}  // namespace

struct ProcessorSampler::Recorder {
  explicit Recorder(size_t count)
      : sample_count_max(count), samples(new WalkedStack[count]), self(getpid()) {}

  void Record(const ucontext_t& context) {
    const size_t index = next.fetch_add(1, std::memory_order_relaxed);
    if (index < sample_count_max) Walk(context, self, &samples[index]);
  }

  const size_t sample_count_max;
  const std::unique_ptr<WalkedStack[]> samples;  // memory is committed as samples are written
  const pid_t self;
  std::atomic<size_t> next{0};
};

void ProcessorSampler::OnSignal(int, siginfo_t*, void* context) {
  const int saved_errno = errno;
  handler_count.fetch_add(1);
  if (auto* const recorder = static_cast<Recorder*>(active.load())) {
    recorder->Record(*static_cast<const ucontext_t*>(context));
  }
  handler_count.fetch_sub(1);
  errno = saved_errno;
}

StatusOr<std::unique_ptr<ProcessorSampler>> ProcessorSampler::Start(size_t sample_count_max) {
  auto recorder = std::make_unique<Recorder>(sample_count_max);
  void* nobody = nullptr;
  if (!active.compare_exchange_strong(nobody, recorder.get())) {
    return FailedPrecondition("a CPU profile of this process is already being taken");
  }
  std::unique_ptr<ProcessorSampler> sampler(new ProcessorSampler(std::move(recorder)));
  NEPTUNE_RETURN_IF_ERROR(InstallHandler(&OnSignal));
  itimerval present{};
  getitimer(ITIMER_PROF, &present);
  if (timerisset(&present.it_value)) {
    return FailedPrecondition("other code in this process uses ITIMER_PROF");
  }
  sampler->has_timer_ = true;
  NEPTUNE_RETURN_IF_ERROR(SetTimer(kSamplePeriod));
  return sampler;
}

ProcessorSampler::ProcessorSampler(std::unique_ptr<Recorder> recorder)
    : recorder_(std::move(recorder)) {}

ProcessorSampler::~ProcessorSampler() { End(); }

void ProcessorSampler::End() {
  if (std::exchange(ended_, true)) return;
  if (has_timer_) (void)SetTimer(Duration(0));
  active.store(nullptr);
  while (handler_count.load() != 0) sched_yield();  // takes microseconds, once their threads run
}

size_t ProcessorSampler::sample_count() const {
  return std::min(recorder_->next.load(std::memory_order_relaxed), recorder_->sample_count_max);
}

size_t ProcessorSampler::lost_count() const {
  return recorder_->next.load(std::memory_order_relaxed) - sample_count();
}

ProcessorSamples ProcessorSampler::Stop() {
  End();
  ProcessorSamples result;
  const size_t count = sample_count();
  result.lost_count = static_cast<int64_t>(lost_count());
  for (size_t i = 0; i < count; ++i) {
    const WalkedStack& sample = recorder_->samples[i];
    ++result.stacks[{sample.addresses, sample.addresses + sample.depth}];
  }
  return result;
}

}  // namespace neptune
