// Signals, forks and blocking calls of threads. See conformance_threads.c.

#define _GNU_SOURCE

#include "neptune/interpose/pthread/conformance.h"

static pthread_mutex_t counter_mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t units;

// ---- Signals ----

static int ends[2];  // a pipe

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

// Waits in the way selected by the number until the wait ends; returns errno, or 0.
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
    // A wait that restarts after a signal ends with its own event.
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
    // A child has one thread with the state of the one that forked it.
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

// Blocking calls block a thread, not the process.
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

// A descriptor that a child closes stays open in its parent, whose wait goes on.
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

static pid_t waiting_child;

static void* wait_for_child(void* argument) {
  (void)argument;
  int status = 0;
  advance(&crowd);
  const int is_it = waitpid(waiting_child, &status, 0) == waiting_child;
  return number(is_it ? WEXITSTATUS(status) : -1);
}

static void* let_child_go(void* argument) {
  (void)argument;
  return number(write(ends[1], "x", 1));
}

// A thread waits for a child, and the child for another thread.
static void case_wait_for_a_child(void) {
  printf("pipe %d\n", pipe(ends));
  fflush(stdout);
  waiting_child = fork();
  if (waiting_child == 0) {
    char byte = 0;
    _exit(read(ends[0], &byte, 1) == 1 ? 7 : 1);
  }
  pthread_t waiting = start(&wait_for_child, NULL);
  await(&crowd, 1);
  for (int i = 0; i < 100; ++i) sched_yield();
  printf("written %ld\n", join(start(&let_child_go, NULL)));
  printf("child %ld\n", join(waiting));
}

static void* take_signals(void* argument) {
  (void)argument;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  int first = 0;
  advance(&crowd);
  const int error = sigwait(&set, &first);
  advance(&crowd);
  siginfo_t info;
  const int second = sigwaitinfo(&set, &info);
  const struct timespec soon = {.tv_nsec = 5000000};
  const int none = sigtimedwait(&set, &info, &soon);
  printf("%d %d %d, then %d %d\n", error, first == SIGUSR1, second == SIGUSR2, none,
         errno == EAGAIN);
  return NULL;
}

// A common server pattern: all threads block the signals, and one waits for them.
static void case_one_thread_takes_the_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_t thread = start(&take_signals, NULL);
  await(&crowd, 1);
  kill(getpid(), SIGUSR1);
  await(&crowd, 2);
  pthread_kill(thread, SIGUSR2);
  join(thread);
}

// A daemon starts its threads after it has forked.
static void case_threads_after_a_fork(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    pthread_t thread = start(&stand_in_crowd, number(5));
    await(&crowd, 1);
    advance(&crowd_may_go);
    printf("result %ld\n", join(thread));
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  tell_child(status);
}

static const struct Case kCases[] = {
    {"signals_to_itself", &case_signals_to_itself},
    {"signals_to_the_process", &case_signals_to_the_process},
    {"signals_end_waits", &case_signals_end_waits},
    {"blocked_signals_wait", &case_blocked_signals_wait},
    {"crash_is_handled", &case_crash_is_handled},
    {"fork", &case_fork},
    {"blocking_calls", &case_blocking_calls},
    {"child_closes_all", &case_child_closes_all},
    {"wait_for_a_child", &case_wait_for_a_child},
    {"one_thread_takes_the_signals", &case_one_thread_takes_the_signals},
    {"threads_after_a_fork", &case_threads_after_a_fork},
};

int main(int argument_count, char** arguments) {
  return run_cases(kCases, sizeof(kCases) / sizeof(kCases[0]), argument_count, arguments);
}
