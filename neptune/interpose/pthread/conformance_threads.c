// Creation and end of threads, and their attributes. libc's threads are the specification: the
// program must print the same with and without the preload library.

#define _GNU_SOURCE

#include "neptune/interpose/pthread/conformance.h"

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

// Registers handlers while another thread has some registered: each thread has its own.
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
  free(memory);  // no thread uses it any more
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
  printf("batch %d", pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters));
  pthread_getschedparam(pthread_self(), &policy, &parameters);
  printf(", is it %d", policy == SCHED_BATCH);
  printf(", unknown %d\n", pthread_setschedparam(pthread_self(), 4711, &parameters) == EINVAL);
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

static const struct Case kCases[] = {
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
};

int main(int argument_count, char** arguments) {
  return run_cases(kCases, sizeof(kCases) / sizeof(kCases[0]), argument_count, arguments);
}
