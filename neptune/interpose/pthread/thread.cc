#include "neptune/interpose/pthread/thread.h"

#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <utility>

#include "neptune/interpose/key_values.h"
#include "neptune/interpose/pthread/exit.h"
#include "neptune/interpose/pthread/parking_lot.h"
#include "neptune/interpose/pthread/process.h"
#include "neptune/interpose/pthread/signal.h"
#include "neptune/thread/thread_specific.h"

namespace neptune::interpose {
namespace {

// Minimum stack size: the runtime's parks need room below the program's frames.
constexpr size_t kStackSizeMin = 128 * 1024;

// Known threads, and stacks by size.
class ThreadTable {
 public:
  // Created at the first use, never destroyed: threads may outlive main.
  static ThreadTable& Get() {
    static auto* const table = new ThreadTable;
    return *table;
  }

  void Add(const std::shared_ptr<PthreadThread>& thread) {
    LeafLock lock(&mutex_);
    threads_[thread->handle()] = thread;
  }
  void Remove(pthread_t handle) {
    std::shared_ptr<PthreadThread> last;  // destroyed outside the lock
    LeafLock lock(&mutex_);
    const auto found = threads_.find(handle);
    if (found == threads_.end()) return;
    last = std::move(found->second);
    threads_.erase(found);
  }
  std::shared_ptr<PthreadThread> Find(pthread_t handle) {
    LeafLock lock(&mutex_);
    const auto found = threads_.find(handle);
    return found == threads_.end() ? nullptr : found->second;
  }

  StatusOr<Stack> AcquireStack(size_t size) {
    LeafLock lock(&mutex_);
    return stacks_.try_emplace(size, size).first->second.Take();
  }
  void GiveBack(const Stack& stack) {
    LeafLock lock(&mutex_);
    stacks_.at(stack.size).GiveBack(stack);
  }

 private:
  LeafMutex mutex_;
  std::unordered_map<pthread_t, std::shared_ptr<PthreadThread>> threads_ ABSL_GUARDED_BY(mutex_);
  std::map<size_t, StackPool> stacks_ ABSL_GUARDED_BY(mutex_);
};

ThreadHome* thread_home = nullptr;
std::atomic<uint32_t> last_number{0};

// 0: none yet. In the static thread-local block, like Loop's.
__attribute__((tls_model("initial-exec"))) thread_local uint32_t kernel_thread_number = 0;
// In a forked child: the user-level thread that called fork.
__attribute__((tls_model("initial-exec"))) thread_local PthreadThread* forked_thread = nullptr;

const ThreadSpecific<PthreadThread>& CurrentThread() {
  static const ThreadSpecific<PthreadThread> current;
  return current;
}

uint32_t NextNumber() {
  uint32_t number = 0;
  while (number == 0) number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

// Number of a user-level thread that was not made by pthread_create.
uint32_t NumberOfRuntimesThread() {
  static const ThreadSpecificKey number;
  if (number.Get() == nullptr) number.Set(reinterpret_cast<void*>(uintptr_t{NextNumber()}));
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(number.Get()));
}

size_t PageSize() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t DefaultStackSize() {
  pthread_attr_t attributes;
  size_t size = kStackSizeMin;
  if (pthread_getattr_default_np(&attributes) != 0) return size;
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  return size;
}

// The stack that the attributes ask for: the program's memory, or a size.
ThreadStack WantedStack(const pthread_attr_t* attributes) {
  ThreadStack wanted;
  size_t& size = wanted.memory.size;
  if (attributes != nullptr) {
    void* low = nullptr;
    pthread_attr_getstack(attributes, &low, &size);
    wanted.memory.low = static_cast<char*>(low);
    // Attributes without a stack of the program report one that ends at address 0.
    wanted.is_programs = wanted.memory.top() != nullptr;
    if (wanted.is_programs) return wanted;
    pthread_attr_getstacksize(attributes, &size);
  }
  if (size == 0) size = DefaultStackSize();
  size = std::max(size, kStackSizeMin);
  size = (size + PageSize() - 1) / PageSize() * PageSize();
  return wanted;
}

StatusOr<ThreadStack> AcquireStack(const pthread_attr_t* attributes) {
  const ThreadStack wanted = WantedStack(attributes);
  if (wanted.is_programs) return wanted;
  NEPTUNE_ASSIGN_OR_RETURN(const Stack taken, ThreadTable::Get().AcquireStack(wanted.memory.size));
  return ThreadStack{taken, false};
}

void GiveBack(const ThreadStack& stack) {
  if (!stack.is_programs) ThreadTable::Get().GiveBack(stack.memory);
}

bool IsDetached(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &state);
  return state == PTHREAD_CREATE_DETACHED;
}

}  // namespace

// Life of a thread after its start.
struct ThreadLife {
  // Runs on the user-level thread.
  static void Run(PthreadThread& self) {
    CurrentThread().set(&self);
    SetRunning(self, ThreadRef(UserThread::Current()));
    self.result_ = RunUntilExit(self.routine_, self.argument_);
    // A child forked by this thread ends with it, because it has no loop to return to.
    if (forked_thread == &self) std::exit(0);
  }

  static void SetRunning(PthreadThread& self, ThreadRef running) {
    LeafLock lock(&self.mutex_);
    std::swap(self.running_, running);
  }

  // Runs on the loop once the thread no longer uses its stack.
  static void End(const std::shared_ptr<PthreadThread>& self, ThreadScheduler& scheduler) {
    SetRunning(*self, ThreadRef());
    GiveBack(self->stack_);
    self->ended_.store(true);
    if (self->detached()) ThreadTable::Get().Remove(self->handle());
    ParkingLot::Get().AtAddress(self.get(), [](ParkingLot::Queue& queue) {
      while (!queue.empty()) queue.LetGo(queue.first(), 0);
    });
    thread_home->Left(scheduler);
    NoteThreadEnds();
  }
};

void SetThreadHome(ThreadHome* home) { thread_home = home; }

PthreadThread* PthreadThread::Current() {
  if (UserThread::Current() != nullptr) return CurrentThread().get();
  return forked_thread;
}

std::shared_ptr<PthreadThread> PthreadThread::Find(pthread_t handle) {
  return ThreadTable::Get().Find(handle);
}

std::string PthreadThread::name() const {
  LeafLock lock(&mutex_);
  return name_;
}

void PthreadThread::SetName(std::string name) {
  LeafLock lock(&mutex_);
  name_ = std::move(name);
}

void PthreadThread::Interrupt() {
  ThreadRef running;
  {
    LeafLock lock(&mutex_);
    running = running_;
  }
  if (running) running->Wake();
}

uint32_t CurrentThreadNumber() {
  if (const PthreadThread* const thread = PthreadThread::Current(); thread != nullptr) {
    return thread->number();
  }
  if (UserThread::Current() != nullptr) return NumberOfRuntimesThread();
  if (kernel_thread_number == 0) kernel_thread_number = NextNumber();
  return kernel_thread_number;
}

int StartThread(const pthread_attr_t* attributes, void* (*routine)(void*), void* argument,
                pthread_t* handle) {
  const StatusOr<ThreadStack> stack = AcquireStack(attributes);
  if (!stack.ok()) return EAGAIN;
  const StatusOr<ThreadScheduler*> chosen = thread_home->Choose();
  if (!chosen.ok()) {
    GiveBack(*stack);
    return EAGAIN;
  }
  const auto thread = std::make_shared<PthreadThread>();
  thread->handle_ = reinterpret_cast<uintptr_t>(thread.get()) | 1;
  thread->number_ = NextNumber();
  thread->stack_ = *stack;
  thread->routine_ = routine;
  thread->argument_ = argument;
  if (IsDetached(attributes)) thread->life_ = PthreadThread::Life::kDetached;
  thread->signal_mask = CurrentSignalMask();
  ThreadTable::Get().Add(thread);
  *handle = thread->handle_;  // before the thread runs, since it may read it
  NoteThreadBegins();

  ThreadScheduler* const scheduler = *chosen;
  scheduler->loop().Post([scheduler, thread] {
    const auto started = scheduler->SpawnOn(
        thread->stack_.memory, [thread] { ThreadLife::Run(*thread); },
        [scheduler, thread] { ThreadLife::End(thread, *scheduler); });
    CHECK(started.ok()) << started.status();  // ThreadHome reserved the place
  });
  return 0;
}

namespace {

// Waits until the thread has ended. False at the deadline.
bool AwaitEnd(const PthreadThread* thread, const std::atomic<bool>& ended, TimePoint deadline) {
  const ParkingLot::WaitResult wait = ParkingLot::Get().Wait(
      {.address = thread, .until = {.deadline = deadline}}, [&ended] { return !ended.load(); });
  return wait.ended != ParkingLot::Ended::kDeadline;
}

}  // namespace

int JoinThread(pthread_t handle, TimePoint deadline, void** result) {
  const std::shared_ptr<PthreadThread> thread = PthreadThread::Find(handle);
  if (thread == nullptr) return ESRCH;
  if (thread.get() == PthreadThread::Current()) return EDEADLK;
  auto life = PthreadThread::Life::kJoinable;
  if (!thread->life_.compare_exchange_strong(life, PthreadThread::Life::kBeingJoined))
    return EINVAL;
  if (!AwaitEnd(thread.get(), thread->ended_, deadline)) {
    thread->life_ = PthreadThread::Life::kJoinable;
    return ETIMEDOUT;
  }
  if (result != nullptr) *result = thread->result_;
  ThreadTable::Get().Remove(handle);
  return 0;
}

int TryJoinThread(pthread_t handle, void** result) {
  const std::shared_ptr<PthreadThread> thread = PthreadThread::Find(handle);
  if (thread == nullptr) return ESRCH;
  if (!thread->ended_.load()) return thread->detached() ? EINVAL : EBUSY;
  return JoinThread(handle, kNever, result);
}

int DetachThread(pthread_t handle) {
  const std::shared_ptr<PthreadThread> thread = PthreadThread::Find(handle);
  if (thread == nullptr) return ESRCH;
  auto life = PthreadThread::Life::kJoinable;
  if (!thread->life_.compare_exchange_strong(life, PthreadThread::Life::kDetached)) return EINVAL;
  if (thread->ended_.load()) ThreadTable::Get().Remove(handle);
  return 0;
}

void ExitThread(void* result) { UnwindToExit(result); }

void ForgetThreadsAfterFork() {
  forked_thread = PthreadThread::Current();
  KeepKeyValuesAfterFork();
  ThreadScheduler::ForgetAfterFork();
  ParkingLot::ForgetAfterFork();
}

}  // namespace neptune::interpose
