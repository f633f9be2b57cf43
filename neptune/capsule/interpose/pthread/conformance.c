// What a program can see of its threads. The same program runs with and without the preload library and must print the
// same: libc's own threads are the specification. Without arguments it prints the names of its cases.

#define _GNU_SOURCE

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kNanosecondsPerSecond = 1000000000 };

static void* number(long value) { return (void*)(intptr_t)value; }

static pthread_t start(void* (*routine)(void*), void* argument) {
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, routine, argument);
  if (error != 0) {
    printf("pthread_create: %s\n", strerror(error));
    exit(1);
  }
  return thread;
}

static long join(pthread_t thread) {
  void* result = NULL;
  const int error = pthread_join(thread, &result);
  if (error != 0) printf("pthread_join: %s\n", strerror(error));
  return (long)(intptr_t)result;
}

static struct timespec from_now(clockid_t clock, long milliseconds) {
  struct timespec when;
  clock_gettime(clock, &when);
  when.tv_nsec += milliseconds * 1000000;
  when.tv_sec += when.tv_nsec / kNanosecondsPerSecond;
  when.tv_nsec %= kNanosecondsPerSecond;
  return when;
}

static int has_passed(clockid_t clock, struct timespec when) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec > when.tv_sec || (now.tv_sec == when.tv_sec && now.tv_nsec >= when.tv_nsec);
}

// A number that threads wait for: a mutex and a condition as programs use them.
struct Stage {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int value;
};
#define STAGE \
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }

static void advance(struct Stage* stage) {
  pthread_mutex_lock(&stage->mutex);
  ++stage->value;
  pthread_cond_broadcast(&stage->changed);
  pthread_mutex_unlock(&stage->mutex);
}

static void await(struct Stage* stage, int value) {
  pthread_mutex_lock(&stage->mutex);
  while (stage->value < value) pthread_cond_wait(&stage->changed, &stage->mutex);
  pthread_mutex_unlock(&stage->mutex);
}

// ---- Life of a thread ----

static void* twice(void* argument) { return number(2 * (long)(intptr_t)argument); }

static void case_create_and_join(void) {
  enum { kCount = 200 };
  pthread_t threads[kCount];
  long sum = 0;
  for (long i = 0; i < kCount; ++i) threads[i] = start(&twice, number(i));
  for (int i = 0; i < kCount; ++i) sum += join(threads[i]);
  printf("sum %ld\n", sum);
}

static void* start_more(void* depth) {
  if (depth == 0) return number(1);
  pthread_t one = start(&start_more, number((long)(intptr_t)depth - 1));
  pthread_t other = start(&start_more, number((long)(intptr_t)depth - 1));
  return number(join(one) + join(other));
}

static void case_threads_start_threads(void) {
  printf("leaves %ld\n", join(start(&start_more, number(6))));
}

static struct Stage crowd = STAGE;
static struct Stage crowd_may_go = STAGE;

static void* stand_in_crowd(void* argument) {
  advance(&crowd);
  await(&crowd_may_go, 1);
  return argument;
}

static void case_a_thousand_at_once(void) {
  enum { kCount = 1000 };
  static pthread_t threads[kCount];
  long sum = 0;
  for (long i = 0; i < kCount; ++i) threads[i] = start(&stand_in_crowd, number(i));
  await(&crowd, kCount);
  advance(&crowd_may_go);
  for (int i = 0; i < kCount; ++i) sum += join(threads[i]);
  printf("sum %ld\n", sum);
}

static struct Stage detached_done = STAGE;

static void* end_detached(void* argument) {
  (void)argument;
  advance(&detached_done);
  return NULL;
}

static void* detach_self(void* argument) {
  (void)argument;
  printf("detach %d, again %d\n", pthread_detach(pthread_self()), pthread_detach(pthread_self()));
  advance(&detached_done);
  return NULL;
}

static void case_detach(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  printf("create %d\n", pthread_create(&thread, &attributes, &end_detached, NULL));
  await(&detached_done, 1);
  pthread_attr_destroy(&attributes);

  thread = start(&stand_in_crowd, NULL);
  printf("detach %d\n", pthread_detach(thread));
  printf("join what is detached %d\n", pthread_join(thread, NULL) == EINVAL);
  advance(&crowd_may_go);
  start(&detach_self, NULL);
  await(&detached_done, 2);
}

static void* join_self(void* argument) {
  (void)argument;
  return number(pthread_join(pthread_self(), NULL));
}

static void case_join_errors(void) {
  printf("itself %d\n", join(start(&join_self, NULL)) == EDEADLK);
  pthread_t waiting = start(&stand_in_crowd, number(5));
  const struct timespec soon = from_now(CLOCK_REALTIME, 20);
  void* result = NULL;
  printf("try %d\n", pthread_tryjoin_np(waiting, &result) == EBUSY);
  printf("timed %d\n", pthread_timedjoin_np(waiting, &result, &soon) == ETIMEDOUT);
  printf("passed %d\n", has_passed(CLOCK_REALTIME, soon));
  advance(&crowd_may_go);
  const struct timespec later = from_now(CLOCK_MONOTONIC, 60000);
  printf("clock %d\n", pthread_clockjoin_np(waiting, &result, CLOCK_MONOTONIC, &later));
  printf("result %ld\n", (long)(intptr_t)result);
}

static void* tell_self(void* place) {
  const pthread_t self = pthread_self();
  *(pthread_t*)place = self;
  advance(&crowd);
  await(&crowd_may_go, 1);
  return number(pthread_equal(self, pthread_self()));
}

static void case_self_and_equal(void) {
  pthread_t told[2];
  pthread_t threads[2] = {start(&tell_self, &told[0]), start(&tell_self, &told[1])};
  await(&crowd, 2);
  printf("same %d %d\n", pthread_equal(told[0], threads[0]) != 0,
         pthread_equal(told[1], threads[1]) != 0);
  printf("others %d %d\n", pthread_equal(told[0], told[1]), pthread_equal(told[0], pthread_self()));
  advance(&crowd_may_go);
  printf("stays %ld %ld\n", join(threads[0]), join(threads[1]));
}

static void tell(void* text) { printf("cleanup %s\n", (const char*)text); }

static volatile int exits_at_the_bottom = 1;

static void exit_deep(int depth) {
  char text[32];
  snprintf(text, sizeof(text), "depth %d", depth);
  pthread_cleanup_push(&tell, text);
  if (depth > 0) exit_deep(depth - 1);
  if (depth == 0 && exits_at_the_bottom) pthread_exit(number(17));
  pthread_cleanup_pop(0);
}

static void* exit_with_cleanup(void* argument) {
  pthread_cleanup_push(&tell, "executed by pop");
  pthread_cleanup_pop(1);
  pthread_cleanup_push(&tell, "not executed");
  pthread_cleanup_pop(0);
  pthread_cleanup_push(&tell, "last");
  exit_deep(3);
  pthread_cleanup_pop(0);
  return argument;
}

// Its handlers are registered while another thread's are: each has its own.
static void* yield_with_cleanup(void* text) {
  pthread_cleanup_push(&tell, text);
  advance(&crowd);
  await(&crowd_may_go, 1);
  pthread_cleanup_pop(0);
  return NULL;
}

static void case_exit_runs_cleanup(void) {
  pthread_t other = start(&yield_with_cleanup, "of another thread");
  await(&crowd, 1);
  printf("result %ld\n", join(start(&exit_with_cleanup, NULL)));
  advance(&crowd_may_go);
  printf("other %ld\n", join(other));
}

static void* end_late(void* argument) {
  await(&crowd_may_go, 1);
  printf("the last thread ends\n");
  return argument;
}

static void tell_end(void* text) {
  printf("%s\n", (const char*)text);
  advance(&crowd_may_go);
}

static void case_main_exits_first(void) {
  pthread_detach(start(&end_late, NULL));
  pthread_cleanup_push(&tell_end, "main ends");
  fflush(stdout);
  pthread_exit(NULL);
  pthread_cleanup_pop(0);
}

static void at_exit(void) { printf("at exit\n"); }

static void* exit_process(void* argument) {
  (void)argument;
  exit(3);
}

static void case_exit_of_the_process(void) {
  atexit(&at_exit);
  join(start(&exit_process, NULL));
  printf("not reached\n");
}

// ---- Attributes ----

static int contains(pthread_attr_t* attributes, const void* place) {
  void* low = NULL;
  size_t size = 0;
  pthread_attr_getstack(attributes, &low, &size);
  return (const char*)place >= (char*)low && (const char*)place < (char*)low + size;
}

static void* use_much_stack(void* argument) {
  volatile char many[3 << 20];
  for (size_t i = 0; i < sizeof(many); i += 4096) many[i] = (char)i;
  pthread_attr_t attributes;
  printf("getattr %d\n", pthread_getattr_np(pthread_self(), &attributes));
  printf("inside %d %d\n", contains(&attributes, (const void*)many),
         contains(&attributes, (const void*)&many[sizeof(many) - 1]));
  int state = -1;
  pthread_attr_getdetachstate(&attributes, &state);
  printf("joinable %d\n", state == PTHREAD_CREATE_JOINABLE);
  pthread_attr_destroy(&attributes);
  return argument;
}

static void* is_on(void* memory) {
  char local = 0;
  char* volatile place = &local;
  return number(place >= (char*)memory && place < (char*)memory + (256 << 10));
}

static void case_stacks(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  printf("size %d\n", pthread_attr_setstacksize(&attributes, 4 << 20));
  pthread_t thread;
  pthread_create(&thread, &attributes, &use_much_stack, NULL);
  join(thread);
  pthread_attr_destroy(&attributes);
  join(start(&use_much_stack, NULL));  // the default is the limit of the process, 8 MiB

  pthread_attr_init(&attributes);
  char* const memory = aligned_alloc(4096, 256 << 10);
  printf("stack %d\n", pthread_attr_setstack(&attributes, memory, 256 << 10));
  pthread_create(&thread, &attributes, &is_on, memory);
  printf("on it %ld\n", join(thread));
  free(memory);  // nobody is on it any more
  pthread_attr_destroy(&attributes);
}

static void* name_self(void* argument) {
  char name[16] = "";
  printf("set %d\n", pthread_setname_np(pthread_self(), "worker"));
  printf("too long %d\n", pthread_setname_np(pthread_self(), "sixteen letters!") == ERANGE);
  advance(&crowd);
  await(&crowd_may_go, 1);
  printf("get %d", pthread_getname_np(pthread_self(), name, sizeof(name)));
  printf(" %s\n", name);
  printf("too short %d\n", pthread_getname_np(pthread_self(), name, 4) == ERANGE);
  return argument;
}

static void case_names(void) {
  char name[16] = "";
  pthread_t thread = start(&name_self, NULL);
  await(&crowd, 1);
  printf("of another %d", pthread_getname_np(thread, name, sizeof(name)));
  printf(" %s\n", name);
  pthread_setname_np(thread, "renamed");
  advance(&crowd_may_go);
  join(thread);
}

static void* use_scheduling(void* argument) {
  int policy = -1;
  struct sched_param parameters;
  printf("get %d\n", pthread_getschedparam(pthread_self(), &policy, &parameters));
  printf("other %d, priority %d\n", policy == SCHED_OTHER, parameters.sched_priority);
  printf("set %d\n", pthread_setschedparam(pthread_self(), SCHED_OTHER, &parameters));
  cpu_set_t processors;
  printf("affinity %d", pthread_getaffinity_np(pthread_self(), sizeof(processors), &processors));
  printf(", some %d\n", CPU_COUNT(&processors) > 0);
  printf("yield %d\n", sched_yield());
  return argument;
}

static void case_scheduling(void) { join(start(&use_scheduling, NULL)); }

static void* use_cancel_state(void* argument) {
  int before = -1;
  printf("state %d", pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before));
  printf(", enabled before %d\n", before == PTHREAD_CANCEL_ENABLE);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
  printf("disabled before %d\n", before == PTHREAD_CANCEL_DISABLE);
  printf("type %d", pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before));
  printf(", deferred before %d\n", before == PTHREAD_CANCEL_DEFERRED);
  printf("wrong %d\n", pthread_setcancelstate(77, &before) == EINVAL);
  pthread_testcancel();
  return argument;
}

static void case_cancel_state(void) { join(start(&use_cancel_state, NULL)); }

// ---- Mutexes ----

static pthread_mutex_t counter_mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void* count(void* argument) {
  for (int i = 0; i < 2000; ++i) {
    pthread_mutex_lock(&counter_mutex);
    const long seen = counter;
    if (i % 16 == 0) sched_yield();
    counter = seen + 1;
    pthread_mutex_unlock(&counter_mutex);
  }
  return argument;
}

static void case_mutex_excludes(void) {
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i) threads[i] = start(&count, NULL);
  count(NULL);
  for (int i = 0; i < 8; ++i) join(threads[i]);
  printf("counter %ld\n", counter);
}

static volatile int greedy_may_stop;

// It always waits while it holds the mutex.
static void* be_greedy(void* argument) {
  while (!greedy_may_stop) {
    pthread_mutex_lock(&counter_mutex);
    sched_yield();
    pthread_mutex_unlock(&counter_mutex);
  }
  return argument;
}

static void* be_modest(void* argument) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&counter_mutex);
    ++counter;
    pthread_mutex_unlock(&counter_mutex);
  }
  return argument;
}

static void case_mutex_shuts_nobody_out(void) {
  pthread_t greedy = start(&be_greedy, NULL);
  pthread_t modest[2] = {start(&be_modest, NULL), start(&be_modest, NULL)};
  be_modest(NULL);
  join(modest[0]);
  join(modest[1]);
  greedy_may_stop = 1;
  join(greedy);
  printf("counter %ld\n", counter);
}

static pthread_mutex_t other_held = PTHREAD_MUTEX_INITIALIZER;

static void* try_mutex(void* mutex) {
  const struct timespec soon = from_now(CLOCK_REALTIME, 20);
  const struct timespec soon_too = from_now(CLOCK_MONOTONIC, 40);
  printf("try %d\n", pthread_mutex_trylock(mutex) == EBUSY);
  printf("timed %d", pthread_mutex_timedlock(mutex, &soon) == ETIMEDOUT);
  printf(", passed %d\n", has_passed(CLOCK_REALTIME, soon));
  printf("clock %d", pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &soon_too) == ETIMEDOUT);
  printf(", passed %d\n", has_passed(CLOCK_MONOTONIC, soon_too));
  const struct timespec wrong = {.tv_sec = 1, .tv_nsec = kNanosecondsPerSecond};
  printf("wrong time %d\n", pthread_mutex_timedlock(mutex, &wrong) == EINVAL);
  return NULL;
}

static void* unlock_strange(void* mutex) { return number(pthread_mutex_unlock(mutex)); }

static void* hold_and_try(void* argument) {
  pthread_mutex_lock(&other_held);
  advance(&crowd);
  await(&crowd_may_go, 1);
  pthread_mutex_unlock(&other_held);
  return argument;
}

static void use_type(pthread_mutex_t* mutex, const char* name) {
  printf("%s: lock %d", name, pthread_mutex_lock(mutex));
  printf(", try %d", pthread_mutex_trylock(mutex));
  printf(", strange %ld\n", join(start(&unlock_strange, mutex)));
  join(start(&try_mutex, mutex));
  printf("destroy %d\n", pthread_mutex_destroy(mutex) == EBUSY);
}

static void case_mutex_types(void) {
  static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  use_type(&recursive, "recursive");
  printf("again %d, ", pthread_mutex_lock(&recursive));
  for (int i = 0; i < 3; ++i) printf("unlock %d, ", pthread_mutex_unlock(&recursive));
  printf("once more %d\n", pthread_mutex_unlock(&recursive) == EPERM);
  use_type(&checking, "checking");
  const struct timespec soon = from_now(CLOCK_REALTIME, 20);
  printf("again %d", pthread_mutex_lock(&checking) == EDEADLK);
  printf(", timed %d", pthread_mutex_timedlock(&checking, &soon) == EDEADLK);
  printf(", unlock %d", pthread_mutex_unlock(&checking));
  printf(", once more %d\n", pthread_mutex_unlock(&checking) == EPERM);

  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t made;
  printf("init %d", pthread_mutex_init(&made, &attributes));
  printf(", lock %d", pthread_mutex_lock(&made));
  printf(", again %d", pthread_mutex_lock(&made) == EDEADLK);
  printf(", unlock %d", pthread_mutex_unlock(&made));
  printf(", destroy %d\n", pthread_mutex_destroy(&made));
  pthread_mutexattr_destroy(&attributes);

  pthread_t holder = start(&hold_and_try, NULL);
  await(&crowd, 1);
  try_mutex(&other_held);  // on the main thread, of a mutex that another one holds
  advance(&crowd_may_go);
  printf("after all %d\n", pthread_mutex_lock(&other_held));
  pthread_mutex_unlock(&other_held);
  join(holder);
}

// Those that stay libc's.
static void case_mutex_of_libc(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_t mutex;
  printf("init %d", pthread_mutex_init(&mutex, &attributes));
  printf(", lock %d", pthread_mutex_lock(&mutex));
  printf(", unlock %d", pthread_mutex_unlock(&mutex));
  printf(", destroy %d\n", pthread_mutex_destroy(&mutex));
  pthread_mutexattr_destroy(&attributes);
}

// ---- Conditions ----

static struct Stage ping = STAGE;
static struct Stage pong = STAGE;

static void* answer(void* rounds) {
  for (int i = 1; i <= (int)(intptr_t)rounds; ++i) {
    await(&ping, i);
    advance(&pong);
  }
  return NULL;
}

static void case_condition_ping_pong(void) {
  pthread_t thread = start(&answer, number(2000));
  for (int i = 1; i <= 2000; ++i) {
    advance(&ping);
    await(&pong, i);
  }
  join(thread);
  printf("rounds %d %d\n", ping.value, pong.value);
}

static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t queue_has_room = PTHREAD_COND_INITIALIZER;
static int queue_size;
static long taken_count;

static void* produce(void* count) {
  for (long i = 0; i < (long)(intptr_t)count; ++i) {
    pthread_mutex_lock(&queue_mutex);
    while (queue_size == 4) pthread_cond_wait(&queue_has_room, &queue_mutex);
    ++queue_size;
    pthread_cond_signal(&queue_filled);
    pthread_mutex_unlock(&queue_mutex);
  }
  return NULL;
}

static void* consume(void* count) {
  for (long i = 0; i < (long)(intptr_t)count; ++i) {
    pthread_mutex_lock(&queue_mutex);
    while (queue_size == 0) pthread_cond_wait(&queue_filled, &queue_mutex);
    --queue_size;
    ++taken_count;
    pthread_mutex_unlock(&queue_mutex);
    pthread_cond_signal(&queue_has_room);
  }
  return NULL;
}

static void case_condition_queue(void) {
  pthread_t threads[9];
  for (int i = 0; i < 9; ++i) threads[i] = start(i % 2 == 0 ? &consume : &produce, number(1500));
  produce(number(1500));
  for (int i = 0; i < 9; ++i) join(threads[i]);
  printf("taken %ld, left %d\n", taken_count, queue_size);
}

static void wait_in_vain(clockid_t clock, const char* name) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, clock);
  pthread_cond_t never;
  pthread_cond_init(&never, &attributes);
  pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  pthread_mutex_lock(&mutex);
  const struct timespec soon = from_now(clock, 20);
  int error = 0;
  while (error == 0) error = pthread_cond_timedwait(&never, &mutex, &soon);
  printf("%s: timed %d, passed %d", name, error == ETIMEDOUT, has_passed(clock, soon));
  const struct timespec soon_too = from_now(CLOCK_MONOTONIC, 20);
  error = 0;
  while (error == 0) error = pthread_cond_clockwait(&never, &mutex, CLOCK_MONOTONIC, &soon_too);
  printf(", clock %d, passed %d", error == ETIMEDOUT, has_passed(CLOCK_MONOTONIC, soon_too));
  const struct timespec past = {.tv_sec = 1};
  printf(", past %d", pthread_cond_timedwait(&never, &mutex, &past) == ETIMEDOUT);
  const struct timespec wrong = {.tv_sec = 1, .tv_nsec = -1};
  printf(", wrong %d", pthread_cond_timedwait(&never, &mutex, &wrong) == EINVAL);
  printf(", held %d", pthread_mutex_unlock(&mutex));
  printf(", not held %d", pthread_cond_wait(&never, &mutex) == EPERM);
  printf(", destroy %d\n", pthread_cond_destroy(&never));
  pthread_condattr_destroy(&attributes);
}

static void* wait_in_vain_by_thread(void* argument) {
  wait_in_vain(CLOCK_REALTIME, "thread, wall clock");
  wait_in_vain(CLOCK_MONOTONIC, "thread, monotonic");
  return argument;
}

static void case_condition_times_out(void) {
  wait_in_vain(CLOCK_REALTIME, "main, wall clock");
  wait_in_vain(CLOCK_MONOTONIC, "main, monotonic");
  join(start(&wait_in_vain_by_thread, NULL));
}

// A condition is gone as soon as all were told.
static void* use_short_lived(void* argument) {
  struct Stage* const stage = argument;
  await(stage, 1);
  advance(&crowd);
  return NULL;
}

static void case_condition_destroyed_at_once(void) {
  for (int i = 1; i <= 200; ++i) {
    struct Stage* const stage = calloc(1, sizeof(struct Stage));
    pthread_t threads[3];
    for (int j = 0; j < 3; ++j) threads[j] = start(&use_short_lived, stage);
    if (i % 2 == 0) sched_yield();
    advance(stage);
    for (int j = 0; j < 3; ++j) join(threads[j]);
    if (pthread_cond_destroy(&stage->changed) != 0 || pthread_mutex_destroy(&stage->mutex) != 0) {
      printf("not destroyed\n");
    }
    memset(stage, 0xff, sizeof(*stage));
    free(stage);
  }
  printf("woken %d\n", crowd.value);
}

// ---- Read-write locks ----

static pthread_rwlock_t shared_lock = PTHREAD_RWLOCK_INITIALIZER;
static long shared_one;
static long shared_other;

static void* read_and_write(void* argument) {
  long wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    if (i % 8 == 0) {
      pthread_rwlock_wrlock(&shared_lock);
      ++shared_one;
      if (i % 32 == 0) sched_yield();
      ++shared_other;
    } else {
      pthread_rwlock_rdlock(&shared_lock);
      if (shared_one != shared_other) ++wrong;
      if (i % 16 == 1) sched_yield();
    }
    pthread_rwlock_unlock(&shared_lock);
  }
  (void)argument;
  return number(wrong);
}

static void case_rwlock_excludes(void) {
  pthread_t threads[6];
  for (int i = 0; i < 6; ++i) threads[i] = start(&read_and_write, NULL);
  long wrong = (long)(intptr_t)read_and_write(NULL);
  for (int i = 0; i < 6; ++i) wrong += join(threads[i]);
  printf("wrong %ld, written %ld\n", wrong, shared_other);
}

static void* try_rwlock(void* argument) {
  const struct timespec soon = from_now(CLOCK_REALTIME, 20);
  printf("read %d", pthread_rwlock_tryrdlock(&shared_lock) == EBUSY);
  printf(", write %d", pthread_rwlock_trywrlock(&shared_lock) == EBUSY);
  printf(", timed read %d", pthread_rwlock_timedrdlock(&shared_lock, &soon) == ETIMEDOUT);
  printf(", timed write %d", pthread_rwlock_timedwrlock(&shared_lock, &soon) == ETIMEDOUT);
  printf(", passed %d\n", has_passed(CLOCK_REALTIME, soon));
  return argument;
}

static void* read_along(void* argument) {
  const struct timespec soon = from_now(CLOCK_REALTIME, 20);
  printf("read %d", pthread_rwlock_tryrdlock(&shared_lock));
  printf(", again %d", pthread_rwlock_rdlock(&shared_lock));
  printf(", write %d", pthread_rwlock_timedwrlock(&shared_lock, &soon) == ETIMEDOUT);
  printf(", unlock %d", pthread_rwlock_unlock(&shared_lock));
  printf(" %d\n", pthread_rwlock_unlock(&shared_lock));
  return argument;
}

static void case_rwlock_errors(void) {
  printf("write %d", pthread_rwlock_wrlock(&shared_lock));
  printf(", again %d", pthread_rwlock_wrlock(&shared_lock) == EDEADLK);
  printf(", read %d\n", pthread_rwlock_rdlock(&shared_lock) == EDEADLK);
  join(start(&try_rwlock, NULL));
  printf("unlock %d\n", pthread_rwlock_unlock(&shared_lock));
  printf("read %d\n", pthread_rwlock_rdlock(&shared_lock));
  join(start(&read_along, NULL));
  printf("unlock %d", pthread_rwlock_unlock(&shared_lock));
  printf(", destroy %d\n", pthread_rwlock_destroy(&shared_lock));
}

// ---- Semaphores and barriers ----

static sem_t units;
static sem_t answers;

static void* take_units(void* count) {
  for (long i = 0; i < (long)(intptr_t)count; ++i) {
    while (sem_wait(&units) != 0) {
    }
    sem_post(&answers);
  }
  return NULL;
}

static void case_semaphore_counts(void) {
  sem_init(&units, 0, 3);
  sem_init(&answers, 0, 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) threads[i] = start(&take_units, number(500));
  for (int i = 0; i < 1997; ++i) sem_post(&units);
  for (int i = 0; i < 2000; ++i) sem_wait(&answers);
  for (int i = 0; i < 4; ++i) join(threads[i]);
  int left = -1;
  sem_getvalue(&units, &left);
  printf("left %d\n", left);
}

static void* wait_for_unit(void* argument) {
  const struct timespec soon = from_now(CLOCK_REALTIME, 20);
  int result = sem_trywait(&units);
  printf("try %d %d", result, errno == EAGAIN);
  errno = 0;
  result = sem_timedwait(&units, &soon);
  printf(", timed %d %d, passed %d\n", result, errno == ETIMEDOUT,
         has_passed(CLOCK_REALTIME, soon));
  return argument;
}

static void post_unit(int signal) {
  (void)signal;
  sem_post(&units);
}

static void ignore_signal(int signal) { (void)signal; }

static void case_semaphore_errors(void) {
  sem_init(&units, 0, 0);
  wait_for_unit(NULL);
  join(start(&wait_for_unit, NULL));
  sem_init(&answers, 0, SEM_VALUE_MAX);
  const int result = sem_post(&answers);
  printf("overflow %d %d\n", result, errno == EOVERFLOW);
}

static volatile sig_atomic_t was_interrupted;

static void* raise_until_interrupted(void* thread) {
  while (!was_interrupted) {
    pthread_kill(*(pthread_t*)thread, SIGUSR1);
    sched_yield();
  }
  pthread_kill(*(pthread_t*)thread, SIGUSR2);
  return NULL;
}

// A handler ends the main thread's wait, and another posts what it waits for.
static void case_semaphore_and_signals(void) {
  sem_init(&units, 0, 0);
  pthread_t self = pthread_self();
  struct sigaction action = {.sa_handler = &ignore_signal};
  sigaction(SIGUSR1, &action, NULL);
  action.sa_handler = &post_unit;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &action, NULL);
  pthread_t thread = start(&raise_until_interrupted, &self);
  while (sem_wait(&units) != 0) was_interrupted |= errno == EINTR;
  printf("interrupted %d\n", (int)was_interrupted);
  join(thread);
}

static pthread_barrier_t barrier;

static void* pass_barrier(void* rounds) {
  long serial_count = 0;
  for (int i = 0; i < (int)(intptr_t)rounds; ++i) {
    serial_count += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
  }
  return number(serial_count);
}

static void case_barrier(void) {
  pthread_barrier_init(&barrier, NULL, 5);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) threads[i] = start(&pass_barrier, number(300));
  long serial_count = (long)(intptr_t)pass_barrier(number(300));
  for (int i = 0; i < 4; ++i) serial_count += join(threads[i]);
  printf("serial %ld, destroy %d\n", serial_count, pthread_barrier_destroy(&barrier));
}

// ---- Once, keys, errno ----

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_count;

static void initialize_slowly(void) {
  for (int i = 0; i < 50; ++i) sched_yield();
  ++once_count;
}

static void* run_once(void* argument) {
  (void)argument;
  pthread_once(&once, &initialize_slowly);
  return number(once_count);
}

static pthread_once_t given_up = PTHREAD_ONCE_INIT;
static void exit_at_first(void) {
  if (++once_count == 1) pthread_exit(number(9));
}
static void* give_up_once(void* argument) {
  pthread_once(&given_up, &exit_at_first);
  return argument;
}

static void case_once(void) {
  pthread_t threads[6];
  long sum = 0;
  for (int i = 0; i < 6; ++i) threads[i] = start(&run_once, NULL);
  run_once(NULL);
  for (int i = 0; i < 6; ++i) sum += join(threads[i]);
  printf("ran %d, seen %ld\n", once_count, sum);
  printf("again %d\n", pthread_once(&once, &initialize_slowly));
}

static void case_once_is_given_up(void) {
  printf("exits %ld", join(start(&give_up_once, number(1))));
  printf(", then %ld", join(start(&give_up_once, number(2))));
  printf(", ran %d\n", once_count);
}

static pthread_key_t key;
static pthread_key_t stubborn_key;
static int destroyed_count;
static int stubborn_count;

static void destroy_value(void* value) { destroyed_count += (int)(intptr_t)value; }
static void destroy_stubborn(void* value) {
  ++stubborn_count;
  pthread_setspecific(stubborn_key, value);
}

static void* use_keys(void* value) {
  long wrong = pthread_getspecific(key) != NULL;
  pthread_setspecific(key, value);
  advance(&crowd);
  await(&crowd_may_go, 1);
  wrong += pthread_getspecific(key) != value;
  return number(wrong);
}

static void* be_stubborn(void* value) {
  pthread_setspecific(stubborn_key, value);
  pthread_exit(NULL);
}

static void* read_key(void* argument) {
  (void)argument;
  const void* const before = pthread_getspecific(key);
  pthread_setspecific(key, &key);
  pthread_key_delete(key);
  pthread_key_create(&key, NULL);
  return number(before == NULL && pthread_getspecific(key) == NULL);
}

static void case_keys(void) {
  printf("create %d %d\n", pthread_key_create(&key, &destroy_value),
         pthread_key_create(&stubborn_key, &destroy_stubborn));
  pthread_t threads[5];
  for (int i = 0; i < 5; ++i) threads[i] = start(&use_keys, number(i + 1));
  pthread_setspecific(key, number(100));
  await(&crowd, 5);
  advance(&crowd_may_go);
  long wrong = 0;
  for (int i = 0; i < 5; ++i) wrong += join(threads[i]);
  printf("wrong %ld, destroyed %d, main %ld\n", wrong, destroyed_count,
         (long)(intptr_t)pthread_getspecific(key));
  join(start(&be_stubborn, number(1)));
  printf("stubborn %d\n", stubborn_count);
  printf("as new %ld\n", join(start(&read_key, NULL)));
  printf("unknown %d %d\n", pthread_setspecific(PTHREAD_KEYS_MAX, &key) == EINVAL,
         pthread_key_delete(PTHREAD_KEYS_MAX) == EINVAL);
}

static void* keep_errno(void* value) {
  long wrong = 0;
  for (int i = 0; i < 200; ++i) {
    errno = (int)(intptr_t)value;
    sched_yield();
    pthread_mutex_lock(&counter_mutex);
    if (i % 8 == 0) sched_yield();
    pthread_mutex_unlock(&counter_mutex);
    wrong += errno != (int)(intptr_t)value;
  }
  return number(wrong);
}

static void case_errno(void) {
  pthread_t threads[5];
  for (int i = 0; i < 5; ++i) threads[i] = start(&keep_errno, number(i + 1));
  long wrong = (long)(intptr_t)keep_errno(number(77));
  for (int i = 0; i < 5; ++i) wrong += join(threads[i]);
  printf("wrong %ld\n", wrong);
}

// ---- Signals ----

static int ends[2];  // of a pipe

static volatile sig_atomic_t handled_count;
static volatile sig_atomic_t handled_by_self;
static pthread_t expected_handler;

static void handle(int signal) {
  (void)signal;
  ++handled_count;
  if (pthread_equal(pthread_self(), expected_handler)) handled_by_self = 1;
}

static void* signal_self(void* argument) {
  expected_handler = pthread_self();
  printf("raise %d, handled %d, by itself %d\n", raise(SIGUSR1), (int)handled_count,
         (int)handled_by_self);
  handled_by_self = 0;
  printf("kill %d, handled %d, by itself %d\n", pthread_kill(pthread_self(), SIGUSR1),
         (int)handled_count, (int)handled_by_self);
  sigset_t set;
  sigset_t before;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  printf("block %d", pthread_sigmask(SIG_BLOCK, &set, &before));
  printf(", usr2 %d, term %d", sigismember(&before, SIGUSR2), sigismember(&before, SIGTERM));
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  printf(", usr2 now %d\n", sigismember(&before, SIGUSR2));
  return argument;
}

static void case_signals_to_itself(void) {
  signal(SIGUSR1, &handle);
  sigset_t inherited;
  sigemptyset(&inherited);
  sigaddset(&inherited, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &inherited, NULL);
  join(start(&signal_self, NULL));
}

static void case_signals_to_the_process(void) {
  signal(SIGUSR1, &handle);
  pthread_t thread = start(&stand_in_crowd, NULL);
  await(&crowd, 1);
  for (int i = 1; i <= 100; ++i) {
    kill(getpid(), SIGUSR1);
    while (handled_count < i) sched_yield();
  }
  printf("handled %d\n", (int)handled_count);
  printf("is there %d\n", pthread_kill(thread, 0));
  printf("no signal %d\n", pthread_kill(thread, 4711) == EINVAL);
  advance(&crowd_may_go);
  join(thread);
}

static volatile sig_atomic_t wait_ended;

// Waits in the way of that number until something ends the wait; errno, or 0.
static void* wait_and_tell(void* way) {
  expected_handler = pthread_self();
  char byte = 0;
  struct pollfd descriptor = {.fd = ends[0], .events = POLLIN};
  const struct timespec long_time = {.tv_sec = 600};
  struct timespec left = {.tv_sec = 0};
  int result = 0;
  advance(&crowd);
  switch ((int)(intptr_t)way) {
    case 0:
      result = read(ends[0], &byte, 1) == 1 ? 0 : errno;
      break;
    case 1:
      result = poll(&descriptor, 1, -1) >= 0 ? 0 : errno;
      break;
    case 2:
      result = nanosleep(&long_time, &left) == 0 ? 0 : errno;
      if (left.tv_sec < 500) result = -1;
      break;
    default:
      result = sem_wait(&units) == 0 ? 0 : errno;
  }
  wait_ended = 1;
  return number(result);
}

static void interrupt_waits(int flags) {
  static const char* const kWays[] = {"read", "poll", "nanosleep", "sem_wait"};
  struct sigaction action = {.sa_handler = &handle, .sa_flags = flags};
  sigaction(SIGUSR1, &action, NULL);
  const int restarts = flags == SA_RESTART;
  for (int way = 0; way < 4; ++way) {
    wait_ended = handled_count = handled_by_self = 0;
    const int before = crowd.value;
    pthread_t thread = start(&wait_and_tell, number(way));
    await(&crowd, before + 1);
    // A wait that goes on after a signal ends by what it waits for.
    while (!wait_ended && !(restarts && handled_count > 3 && (way == 0 || way == 3))) {
      pthread_kill(thread, SIGUSR1);
      sched_yield();
    }
    if (!wait_ended && way == 0 && write(ends[1], "x", 1) != 1) printf("not written\n");
    if (!wait_ended && way == 3) sem_post(&units);
    const long result = join(thread);
    printf("%s: %s, by itself %d\n", kWays[way],
           result == EINTR ? "EINTR"
           : result == 0   ? "ends"
                           : "?",
           (int)handled_by_self);
  }
}

static void case_signals_end_waits(void) {
  printf("pipe %d\n", pipe(ends));
  sem_init(&units, 0, 0);
  interrupt_waits(0);
  interrupt_waits(SA_RESTART);
}

static void* block_for_a_while(void* argument) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  expected_handler = pthread_self();
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  advance(&crowd);
  await(&crowd_may_go, 1);
  printf("blocked %d\n", (int)handled_count);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  printf("unblocked %d, by itself %d\n", (int)handled_count, (int)handled_by_self);
  return argument;
}

static void case_blocked_signals_wait(void) {
  signal(SIGUSR1, &handle);
  pthread_t thread = start(&block_for_a_while, NULL);
  await(&crowd, 1);
  printf("kill %d\n", pthread_kill(thread, SIGUSR1));
  advance(&crowd_may_go);
  join(thread);
}

static void* crash(void* argument) {
  *(volatile int*)argument = 1;
  return NULL;
}

static void die_orderly(int signal) {
  (void)signal;
  static const char kText[] = "a handler of the crash\n";
  _exit(write(STDOUT_FILENO, kText, sizeof(kText) - 1) > 0 ? 5 : 6);
}

static void case_crash_is_handled(void) {
  signal(SIGSEGV, &die_orderly);
  fflush(stdout);
  join(start(&crash, NULL));
}

// ---- Forks ----

static void tell_child(int status) {
  printf("child %d %d\n", WIFEXITED(status), WEXITSTATUS(status));
}

static void* fork_and_use(void* argument) {
  (void)argument;
  pthread_mutex_lock(&counter_mutex);
  fflush(stdout);
  const pthread_t self = pthread_self();
  const pid_t child = fork();
  if (child == 0) {
    // A child has one thread, which is as the one that forked it.
    int status = pthread_equal(self, pthread_self()) ? 40 : 0;
    status += pthread_mutex_unlock(&counter_mutex) == 0;
    status += pthread_mutex_lock(&counter_mutex) == 0;
    sched_yield();
    _exit(status);
  }
  pthread_mutex_unlock(&counter_mutex);
  int status = 0;
  waitpid(child, &status, 0);
  tell_child(status);
  return NULL;
}

static void* fork_and_execute(void* argument) {
  (void)argument;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/echo", "echo", "another program", (char*)NULL);
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  tell_child(status);
  return NULL;
}

static int prepared;
static void prepare_fork(void) { prepared += 1; }
static void after_fork(void) { prepared += 10; }
static void in_child(void) { prepared += 100; }

static void case_fork(void) {
  pthread_t thread = start(&stand_in_crowd, NULL);
  await(&crowd, 1);
  pthread_atfork(&prepare_fork, &after_fork, &in_child);
  join(start(&fork_and_use, NULL));
  printf("prepared %d\n", prepared);
  join(start(&fork_and_execute, NULL));
  fork_and_use(NULL);
  fork_and_execute(NULL);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) _exit(prepared);
  int status = 0;
  waitpid(child, &status, 0);
  tell_child(status);
  advance(&crowd_may_go);
  join(thread);
}

static void* sleep_shortly(void* argument) {
  (void)argument;
  const struct timespec time = {.tv_nsec = 20000000};
  return number(nanosleep(&time, NULL));
}

static void* read_byte(void* argument) {
  (void)argument;
  char byte = 0;
  advance(&crowd);
  const ssize_t size = read(ends[0], &byte, 1);
  return number(size == 1 ? byte : -1);
}

// Blocking calls block threads, and not the process.
static void case_blocking_calls(void) {
  printf("pipe %d\n", pipe(ends));
  pthread_t readers[10];
  for (int i = 0; i < 10; ++i) readers[i] = start(&read_byte, NULL);
  await(&crowd, 10);
  long sum = 0;
  for (int i = 0; i < 10; ++i) sum += write(ends[1], &"0123456789"[i], 1);
  for (int i = 0; i < 10; ++i) sum += join(readers[i]);
  printf("sum %ld\n", sum);
  pthread_t sleepers[10];
  const struct timespec then = from_now(CLOCK_MONOTONIC, 20);
  for (int i = 0; i < 10; ++i) sleepers[i] = start(&sleep_shortly, NULL);
  for (int i = 0; i < 10; ++i) sum += join(sleepers[i]);
  printf("slept %d, sum %ld\n", has_passed(CLOCK_MONOTONIC, then), sum);
}

// What a child closes is still open in its parent, and waited for.
static void case_child_closes_all(void) {
  printf("pipe %d\n", pipe(ends));
  pthread_t reader = start(&read_byte, NULL);
  await(&crowd, 1);
  for (int i = 0; i < 100; ++i) sched_yield();
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    for (int fd = 3; fd < 100; ++fd) close(fd);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  tell_child(status);
  printf("write %zd\n", write(ends[1], "a", 1));
  printf("read %ld\n", join(reader));
}

// A daemon starts its threads after it has forked.
static void case_threads_after_a_fork(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    case_condition_ping_pong();
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  tell_child(status);
}

static const struct Case {
  const char* name;
  void (*run)(void);
} kCases[] = {
    {"create_and_join", &case_create_and_join},
    {"threads_start_threads", &case_threads_start_threads},
    {"a_thousand_at_once", &case_a_thousand_at_once},
    {"detach", &case_detach},
    {"join_errors", &case_join_errors},
    {"self_and_equal", &case_self_and_equal},
    {"exit_runs_cleanup", &case_exit_runs_cleanup},
    {"main_exits_first", &case_main_exits_first},
    {"exit_of_the_process", &case_exit_of_the_process},
    {"stacks", &case_stacks},
    {"names", &case_names},
    {"scheduling", &case_scheduling},
    {"cancel_state", &case_cancel_state},
    {"mutex_excludes", &case_mutex_excludes},
    {"mutex_shuts_nobody_out", &case_mutex_shuts_nobody_out},
    {"mutex_types", &case_mutex_types},
    {"mutex_of_libc", &case_mutex_of_libc},
    {"condition_ping_pong", &case_condition_ping_pong},
    {"condition_queue", &case_condition_queue},
    {"condition_times_out", &case_condition_times_out},
    {"condition_destroyed_at_once", &case_condition_destroyed_at_once},
    {"rwlock_excludes", &case_rwlock_excludes},
    {"rwlock_errors", &case_rwlock_errors},
    {"semaphore_counts", &case_semaphore_counts},
    {"semaphore_errors", &case_semaphore_errors},
    {"semaphore_and_signals", &case_semaphore_and_signals},
    {"barrier", &case_barrier},
    {"once", &case_once},
    {"once_is_given_up", &case_once_is_given_up},
    {"keys", &case_keys},
    {"errno", &case_errno},
    {"signals_to_itself", &case_signals_to_itself},
    {"signals_to_the_process", &case_signals_to_the_process},
    {"signals_end_waits", &case_signals_end_waits},
    {"blocked_signals_wait", &case_blocked_signals_wait},
    {"crash_is_handled", &case_crash_is_handled},
    {"fork", &case_fork},
    {"blocking_calls", &case_blocking_calls},
    {"child_closes_all", &case_child_closes_all},
    {"threads_after_a_fork", &case_threads_after_a_fork},
};

int main(int argument_count, char** arguments) {
  const size_t case_count = sizeof(kCases) / sizeof(kCases[0]);
  for (size_t i = 0; i < case_count; ++i) {
    if (argument_count < 2) printf("%s\n", kCases[i].name);
    if (argument_count > 1 && strcmp(arguments[1], kCases[i].name) == 0) {
      kCases[i].run();
      return 0;
    }
  }
  return argument_count < 2 ? 0 : 2;
}
