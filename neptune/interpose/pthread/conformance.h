// Utilities of the conformance programs: starting and joining threads, time, a number to wait for.
//
// A program prints the names of its cases, or runs the case that its argument names.
//
// programs that know nothing of it. Threads: as each function says.

#pragma once

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

static inline void* number(long value) { return (void*)(intptr_t)value; }

static inline pthread_t start(void* (*routine)(void*), void* argument) {
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, routine, argument);
  if (error != 0) {
    printf("pthread_create: %s\n", strerror(error));
    exit(1);
  }
  return thread;
}

static inline long join(pthread_t thread) {
  void* result = NULL;
  const int error = pthread_join(thread, &result);
  if (error != 0) printf("pthread_join: %s\n", strerror(error));
  return (long)(intptr_t)result;
}

static inline struct timespec from_now(clockid_t clock, long milliseconds) {
  struct timespec when;
  clock_gettime(clock, &when);
  when.tv_nsec += milliseconds * 1000000;
  when.tv_sec += when.tv_nsec / kNanosecondsPerSecond;
  when.tv_nsec %= kNanosecondsPerSecond;
  return when;
}

static inline int has_passed(clockid_t clock, struct timespec when) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec > when.tv_sec || (now.tv_sec == when.tv_sec && now.tv_nsec >= when.tv_nsec);
}

// A number that threads wait for, with a mutex and a condition.
struct Stage {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int value;
};
#define STAGE \
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }

static inline void advance(struct Stage* stage) {
  pthread_mutex_lock(&stage->mutex);
  ++stage->value;
  pthread_cond_broadcast(&stage->changed);
  pthread_mutex_unlock(&stage->mutex);
}

static inline void await(struct Stage* stage, int value) {
  pthread_mutex_lock(&stage->mutex);
  while (stage->value < value) pthread_cond_wait(&stage->changed, &stage->mutex);
  pthread_mutex_unlock(&stage->mutex);
}

__attribute__((unused)) static struct Stage crowd = STAGE;
__attribute__((unused)) static struct Stage crowd_may_go = STAGE;

static inline void* stand_in_crowd(void* argument) {
  advance(&crowd);
  await(&crowd_may_go, 1);
  return argument;
}

struct Case {
  const char* name;
  void (*run)(void);
};

static inline int run_cases(const struct Case* cases, size_t count, int argument_count,
                            char** arguments) {
  for (size_t i = 0; i < count; ++i) {
    if (argument_count < 2) printf("%s\n", cases[i].name);
    if (argument_count > 1 && strcmp(arguments[1], cases[i].name) == 0) {
      cases[i].run();
      return 0;
    }
  }
  return argument_count < 2 ? 0 : 2;
}
