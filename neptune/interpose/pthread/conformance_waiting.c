// Synchronization objects and thread-specific data. See conformance_threads.c.

#define _GNU_SOURCE

#include "neptune/interpose/pthread/conformance.h"

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

// This thread always waits while it holds the mutex.
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
  try_mutex(&other_held);  // on the main thread, while another thread holds the mutex
  advance(&crowd_may_go);
  printf("after all %d\n", pthread_mutex_lock(&other_held));
  pthread_mutex_unlock(&other_held);
  join(holder);
}

// Mutexes that stay libc's.
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

// A condition is destroyed as soon as all waiters are signalled.
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

// One handler ends the main thread's wait, and another one posts the semaphore.
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

static const struct Case kCases[] = {
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
};

int main(int argument_count, char** arguments) {
  return run_cases(kCases, sizeof(kCases) / sizeof(kCases[0]), argument_count, arguments);
}
