// The timer refuses a signal that the program uses itself.

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "neptune/sert/sert.h"

namespace {

volatile sig_atomic_t handled = 0;

TEST(TimerSignalTest, SignalThatTheProgramHandlesIsRefusedAndKept) {
  const int signum = SIGRTMIN + 5;
  signal(signum, [](int) { handled = handled + 1; });
  errno = 0;
  EXPECT_EQ(SERT_init_timer(signum), -1);
  EXPECT_EQ(errno, EBUSY);
  raise(signum);
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(SERT_init_timer(SIGRTMIN + 6), 0) << "another one may be tried";
}

}  // namespace
