// Requests that are ended early after a millisecond, and their resources, for tests of the library.
//
// Threads: any.

#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <setjmp.h>

#include <csignal>
#include <cstdlib>

#include "neptune/sert/sert.h"

namespace neptune::sert {

// Arguments that end a request after a millisecond.
inline sert_arg AtOnce() {
  return {.lower_bound_s = 0.001,
          .upper_bound_s = 0.001,
          .low_watermark = 0.01,
          .high_watermark = 0.1,
          .alpha = 1,
          .window_s = 2};
}

inline void StartTimerOnce() {
  static const int started = [] {
    const int result = SERT_init_timer(SIGRTMIN + 3);
    sert_arg args = AtOnce();
    SERT_set_args(&args);
    return result;
  }();
  ASSERT_EQ(started, 0);
}

inline sert_statistics Statistics() {
  sert_statistics statistics;
  SERT_get_statistics(&statistics);
  return statistics;
}

// Allocates and frees; the asm keeps the compiler from removing both.
inline void Allocate(size_t size) {
  void* const object = malloc(size);
  asm volatile("" : : "r"(object) : "memory");
  free(object);
}

// Computes until the request is overdue.
inline void BeOverdue() {
  while (Statistics().is_overdue == 0) {
  }
}

// Runs a request; true if it was ended early.
inline bool RunRequest(void (*body)(void*), void* argument) {
  sigjmp_buf env;
  if (sigsetjmp(env, 1) != 0) return true;
  SERT_register_rollbackpoint(&env);
  SERT_start();
  body(argument);
  SERT_end();
  return false;
}

inline int OpenDescriptors() {
  int count = 0;
  DIR* const directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

// Scope guard that sets another time limit.
class OtherLimit {
 public:
  explicit OtherLimit(double seconds) {
    sert_arg args = AtOnce();
    args.lower_bound_s = args.upper_bound_s = seconds;
    SERT_set_args(&args);
  }
  ~OtherLimit() {
    sert_arg args = AtOnce();
    SERT_set_args(&args);
  }
};

class TerminationTest : public testing::Test {
 protected:
  void SetUp() override { StartTimerOnce(); }
};

}  // namespace neptune::sert
