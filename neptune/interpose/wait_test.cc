// Waiting for one of several descriptors and for time, and the events that end a wait.

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <vector>

#include "neptune/interpose/test_sockets.h"
#include "neptune/interpose/user_threads.h"

namespace neptune::interpose {
namespace {

using std::chrono::milliseconds;

TEST(WaitTest, ASignalOfTheProcessDoesNotInterrupt) {
  struct sigaction handle {};
  handle.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &handle, nullptr), 0);
  UserThreads threads;
  int ends[2] = {-1, -1};
  threads.Run({[&] {
                 ASSERT_EQ(pipe(ends), 0);
                 char byte;
                 EXPECT_EQ(read(ends[0], &byte, 1), 1);
               },
               [&] {
                 kill(getpid(), SIGUSR1);
                 LetOthersRun();
                 EXPECT_EQ(write(ends[1], "x", 1), 1);
               }});
  close(ends[0]);
  close(ends[1]);
}

TEST(WaitTest, PollWaitsForOneOfMany) {
  UserThreads threads;
  int first[2];
  int second[2];
  threads.Run({[&] {
                 ASSERT_EQ(pipe(first), 0);
                 ASSERT_EQ(pipe(second), 0);
                 pollfd both[] = {{first[0], POLLIN, 0}, {-1, POLLIN, 0}, {second[0], POLLIN, 0}};
                 EXPECT_EQ(poll(both, 3, 1), 0);
                 EXPECT_EQ(poll(both, 3, -1), 1);
                 EXPECT_EQ(both[0].revents, 0);
                 EXPECT_EQ(both[2].revents, POLLIN);
                 const timespec limit{0, 1'000'000};
                 EXPECT_EQ(ppoll(both, 1, &limit, nullptr), 0);
               },
               [&] {
                 while (UserThread::Current()->scheduler().live_count() < 2) this_thread::Yield();
                 neptune::this_thread::SleepFor(milliseconds(5));
                 EXPECT_EQ(write(second[1], "x", 1), 1);
               }});
  for (const int fd : {first[0], first[1], second[0], second[1]}) close(fd);
}

TEST(WaitTest, SelectAndEpollWait) {
  UserThreads threads;
  int ends[2];
  int parked_count = 0;
  threads.Run({[&] {
                 ASSERT_EQ(pipe(ends), 0);
                 fd_set set;
                 FD_ZERO(&set);
                 FD_SET(ends[0], &set);
                 timeval limit = Millis(60'000);
                 ++parked_count;
                 EXPECT_EQ(select(ends[0] + 1, &set, nullptr, nullptr, &limit), 1);
                 EXPECT_TRUE(FD_ISSET(ends[0], &set));
                 EXPECT_LT(limit.tv_sec, 60);
                 timespec at_once_over{0, 1000};
                 FD_ZERO(&set);
                 EXPECT_EQ(pselect(0, &set, nullptr, nullptr, &at_once_over, nullptr), 0);
               },
               [&] {
                 const int epoll = epoll_create1(0);
                 epoll_event event{};
                 event.events = EPOLLIN;
                 event.data.fd = ends[0];
                 ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), 0);
                 epoll_event ready{};
                 EXPECT_EQ(epoll_wait(epoll, &ready, 1, 1), 0);
                 ++parked_count;
                 EXPECT_EQ(epoll_wait(epoll, &ready, 1, -1), 1);
                 EXPECT_EQ(ready.data.fd, ends[0]);
                 close(epoll);
               },
               [&] {
                 while (parked_count < 2) this_thread::Yield();
                 EXPECT_EQ(write(ends[1], "x", 1), 1);
               }});
  close(ends[0]);
  close(ends[1]);
}

TEST(WaitTest, ThreadsSleepAtTheSameTime) {
  UserThreads threads;
  std::vector<std::function<void()>> bodies;
  for (int i = 0; i < 1000; ++i) {
    bodies.push_back([i] {
      const timespec time{0, 20'000'000};
      if (i % 3 == 0) {
        EXPECT_EQ(nanosleep(&time, nullptr), 0);
      } else if (i % 3 == 1) {
        EXPECT_EQ(usleep(20'000), 0);
      } else {
        timespec until{};
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20'000'000;
        if (until.tv_nsec >= 1'000'000'000) {
          until.tv_nsec -= 1'000'000'000;
          ++until.tv_sec;
        }
        EXPECT_EQ(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr), 0);
      }
    });
  }
  TimePoint begin;
  TimePoint end;
  threads.OnLoop(0, [&] { begin = threads.scheduler().loop().Now(); });
  threads.Run(std::move(bodies));
  threads.OnLoop(0, [&] { end = threads.scheduler().loop().Now(); });
  EXPECT_GE(end - begin, milliseconds(20));
  EXPECT_LT(end - begin,
            milliseconds(20) * 500);  // one after the other they would take twice as long
}

TEST(WaitTest, AStopEndsWaits) {
  int ends[2] = {-1, -1};
  int read_error = 0;
  int poll_error = 0;
  int slept = -1;
  {
    UserThreads threads;
    threads.Start(0, [&] {
      ASSERT_EQ(pipe(ends), 0);
      char byte;
      EXPECT_EQ(read(ends[0], &byte, 1), -1);
      read_error = errno;
    });
    threads.Start(0, [&] {
      pollfd one = {ends[0], POLLIN, 0};
      EXPECT_EQ(poll(&one, 1, -1), -1);
      poll_error = errno;
    });
    threads.Start(0, [&] { slept = static_cast<int>(sleep(1'000'000)); });
    threads.OnLoop(0, [] {});
  }
  EXPECT_EQ(read_error, ECANCELED);
  EXPECT_EQ(poll_error, ECANCELED);
  EXPECT_EQ(slept, 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace neptune::interpose
