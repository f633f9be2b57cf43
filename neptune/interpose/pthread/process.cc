#include "neptune/interpose/pthread/process.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "neptune/interpose/forked_child.h"
#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/pthread/mutex.h"
#include "neptune/interpose/pthread/parking_lot.h"
#include "neptune/interpose/pthread/thread.h"
#include "neptune/world/loop.h"

namespace neptune::interpose {
namespace {

// Counts the main thread too, until it has ended.
std::atomic<int> live_count{1};

__attribute__((tls_model("initial-exec"))) thread_local int runtime_scope_depth = 0;

// Warns that the child's threads are not isolated.
void WarnOfChild() {
  static std::atomic<bool> has_warned{false};
  if (has_warned.exchange(true)) return;
  std::fprintf(stderr,
               "neptune: warning: process %d was forked by a process with threads: its own threads "
               "wait in no capsule\n",
               getpid());
}

void OneEnded() {
  if (live_count.fetch_sub(1) == 1) std::exit(0);
}

}  // namespace

bool MakesUserThreads() {
  if (runtime_scope_depth > 0) return false;
  if (IsForkedChild()) {
    WarnOfChild();
    return false;
  }
  // A loop's own threads, e.g. those that resolve names.
  return Loop::Current() == nullptr || UserThread::Current() != nullptr;
}

int YieldThread() {
  if (UserThread::Current() == nullptr) return sched_yield();
  this_thread::Yield();
  return 0;
}

// The end is recorded by a key's destructor, which runs after the thread's cleanup handlers and the
// destructors of its other keys.
void NoteKernelThreadExit() {
  if (gettid() != getpid()) return;
  pthread_key_t key;
  if (pthread_key_create(&key, [](void*) { OneEnded(); }) != 0) return;
  pthread_setspecific(key, &live_count);
}
void NoteThreadBegins() {
  NoticeForks();
  ++live_count;
}
void NoteThreadEnds() { OneEnded(); }

RuntimeThreadsScope::RuntimeThreadsScope() { ++runtime_scope_depth; }
RuntimeThreadsScope::~RuntimeThreadsScope() { --runtime_scope_depth; }

}  // namespace neptune::interpose

// Serializes forks: libc runs the program's pthread_atfork handlers under its own lock, and a
// user-level thread may wait in one. Another fork on the same kernel thread would then deadlock.
NEPTUNE_PRELOAD_CALL pid_t neptune_fork() {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  neptune::interpose::LockMutex(&one_at_a_time);
  const pid_t child = fork();
  if (child == 0 && neptune::interpose::IsForkedChild()) {
    neptune::interpose::ForgetThreadsAfterFork();
  }
  neptune::interpose::UnlockMutex(&one_at_a_time);
  return child;
}
