// A program's view of descriptors that park: its flags, duplicates, and closing.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <thread>

#include "neptune/interpose/test_sockets.h"
#include "neptune/interpose/user_threads.h"

namespace neptune::interpose {
namespace {

TEST(DescriptorTest, AProgramSeesTheFlagsThatItSet) {
  UserThreads threads;
  threads.Run({[&] {
    Pair pair;
    const int fd = pair.ends[0];
    timeval short_time = Millis(1);
    ASSERT_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &short_time, sizeof(short_time)), 0);
    char byte;
    EXPECT_EQ(read(fd, &byte, 1), -1);
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    ASSERT_EQ(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
    EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    timeval no_limit{};
    ASSERT_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &no_limit, sizeof(no_limit)), 0);
    EXPECT_EQ(read(fd, &byte, 1), -1);
    EXPECT_EQ(errno, EAGAIN);
    int off = 0;
    ASSERT_EQ(ioctl(fd, FIONBIO, &off), 0);
    EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    ASSERT_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &short_time, sizeof(short_time)), 0);
    EXPECT_EQ(read(fd, &byte, 1), -1);
  }});
}

TEST(DescriptorTest, OpenedNonblockingItAnswersAtOnce) {
  UserThreads threads;
  threads.Run({[&] {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), -1);
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_NE(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
    EXPECT_EQ(recv(ends[0], &byte, 1, MSG_DONTWAIT), -1);
    EXPECT_EQ(errno, EAGAIN);
    close(ends[0]);
    close(ends[1]);
  }});
}

TEST(DescriptorTest, ADescriptorOfAnotherThreadIsLeftAlone) {
  UserThreads threads;
  Pair pair;  // opened by this plain kernel thread
  ASSERT_EQ(write(pair.ends[1], "x", 1), 1);
  threads.Run({[&] {
    char byte;
    EXPECT_EQ(read(pair.ends[0], &byte, 1), 1);
  }});
  // The system would report it if the descriptor were non-blocking.
  EXPECT_EQ(fcntl(pair.ends[0], F_GETFL) & O_NONBLOCK, 0);
  std::FILE* const info =
      std::fopen(("/proc/self/fdinfo/" + std::to_string(pair.ends[0])).c_str(), "r");
  int position = 0;
  int flags = 0;
  ASSERT_EQ(std::fscanf(info, "pos: %d flags: %o", &position, &flags), 2);
  std::fclose(info);
  EXPECT_EQ(flags & O_NONBLOCK, 0);
}

TEST(DescriptorTest, ClosedWhileParkedItEnds) {
  UserThreads threads;
  int ends[2] = {-1, -1};
  int error = 0;
  threads.Run({[&] {
                 ASSERT_EQ(pipe(ends), 0);
                 char byte;
                 EXPECT_EQ(read(ends[0], &byte, 1), -1);
                 error = errno;
               },
               [&] { close(ends[0]); }});
  EXPECT_EQ(error, EBADF);
  close(ends[1]);
}

TEST(DescriptorTest, ClosedByAKernelThreadWhileParkedItEnds) {
  UserThreads threads;
  Notification parked;
  int ends[2] = {-1, -1};
  threads.Start(0, [&] {
    ASSERT_EQ(pipe(ends), 0);
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), -1);
    EXPECT_EQ(errno, EBADF);
  });
  threads.Start(0, [&] { parked.Notify(); });
  parked.WaitForNotification();
  close(ends[0]);
  threads.Wait();
  close(ends[1]);
}

TEST(DescriptorTest, AReusedNumberIsNotReadByAThreadThatWaitedForTheOldFile) {
  UserThreads threads;
  int ends[2] = {-1, -1};
  int next[2] = {-1, -1};
  threads.Run({[&] {
                 ASSERT_EQ(pipe(ends), 0);
                 char byte;
                 EXPECT_EQ(read(ends[0], &byte, 1), -1);
                 EXPECT_EQ(errno, EBADF);
               },
               [&] {
                 close(ends[0]);
                 ASSERT_EQ(pipe(next), 0);
                 EXPECT_EQ(next[0], ends[0]);
                 ASSERT_EQ(write(next[1], "x", 1), 1);
                 LetOthersRun();
                 char byte;
                 EXPECT_EQ(read(next[0], &byte, 1), 1);
               }});
  for (const int fd : {ends[1], next[0], next[1]}) close(fd);
}

TEST(DescriptorTest, DuplicatesShareFlagsAndOutliveEachOther) {
  UserThreads threads;
  int ends[2] = {-1, -1};
  int copy = -1;
  threads.Run({[&] {
                 ASSERT_EQ(pipe(ends), 0);
                 copy = dup(ends[0]);
                 char byte;
                 EXPECT_EQ(read(copy, &byte, 1), 1);
                 ASSERT_EQ(fcntl(copy, F_SETFL, O_NONBLOCK), 0);
                 const int another = fcntl(copy, F_DUPFD_CLOEXEC, 0);
                 EXPECT_NE(fcntl(another, F_GETFL) & O_NONBLOCK, 0);
                 EXPECT_EQ(read(another, &byte, 1), -1);
                 EXPECT_EQ(errno, EAGAIN);
                 close(another);
               },
               [&] {
                 close(ends[0]);  // the copy is being read
                 LetOthersRun();
                 EXPECT_EQ(write(ends[1], "x", 1), 1);
               }});
  close(copy);
  close(ends[1]);
}

TEST(DescriptorTest, DuplicatedWhileParkedTheWaitIsTheOriginals) {
  UserThreads threads;
  int ends[2] = {-1, -1};
  int copy = -1;
  threads.Run({[&] {
                 ASSERT_EQ(pipe(ends), 0);
                 char byte;
                 EXPECT_EQ(read(ends[0], &byte, 1), -1);
                 EXPECT_EQ(errno, EBADF);
               },
               [&] {
                 copy = dup(ends[0]);
                 close(ends[0]);
                 LetOthersRun();
                 ASSERT_EQ(write(ends[1], "x", 1), 1);
                 char byte = 0;
                 EXPECT_EQ(read(copy, &byte, 1), 1) << "what the first one waited for";
                 EXPECT_EQ(byte, 'x');
               }});
  close(copy);
  close(ends[1]);
}

TEST(DescriptorTest, OverwrittenByDup2WhileParkedItEnds) {
  UserThreads threads;
  int ends[2] = {-1, -1};
  Pair* pair = nullptr;
  threads.Run({[&] {
                 ASSERT_EQ(pipe(ends), 0);
                 char byte;
                 EXPECT_EQ(read(ends[0], &byte, 1), -1);
                 EXPECT_EQ(errno, EBADF);
               },
               [&] {
                 pair = new Pair;
                 EXPECT_EQ(dup2(pair->ends[0], ends[0]), ends[0]);
               }});
  delete pair;
  close(ends[0]);
  close(ends[1]);
}

TEST(DescriptorTest, OnAKernelThreadADescriptorThatParksBlocks) {
  UserThreads threads;
  Pair* pair = nullptr;
  threads.Run({[&] {
    pair = new Pair;
    timeval time = Millis(1);
    setsockopt(pair->ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    char byte;
    EXPECT_EQ(read(pair->ends[0], &byte, 1), -1);  // from here on it parks
    time = {};
    setsockopt(pair->ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  }});
  std::thread reader([&] {
    char byte;
    EXPECT_EQ(read(pair->ends[0], &byte, 1), 1);
  });
  EXPECT_EQ(write(pair->ends[1], "x", 1), 1);
  reader.join();
  delete pair;
}

TEST(DescriptorTest, AForkedChildBlocksAsEver) {
  UserThreads threads;
  int status = -1;
  threads.Run({[&] {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pollfd one = {ends[0], POLLIN, 0};
    ASSERT_EQ(poll(&one, 1, 1), 0);
    const pid_t child = fork();
    if (child == 0) {
      char byte;
      _exit(read(ends[0], &byte, 1) == 1 && usleep(1) == 0 ? 7 : 1);
    }
    EXPECT_EQ(write(ends[1], "x", 1), 1);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    close(ends[0]);
    close(ends[1]);
  }});
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(DescriptorTest, BadArgumentsAreRefusedAsEver) {
  UserThreads threads;
  threads.Run({[&] {
    char byte;
    EXPECT_EQ(read(-1, &byte, 1), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(close(1 << 22), -1);
    EXPECT_EQ(errno, EBADF);
    const timespec bad{0, -1};
    EXPECT_EQ(nanosleep(&bad, nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
    Pair pair;
    EXPECT_EQ(accept(pair.ends[0], nullptr, nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(epoll_create(0), -1);
    EXPECT_EQ(errno, EINVAL);
    timeval bad_time{0, -1};
    EXPECT_EQ(select(0, nullptr, nullptr, nullptr, &bad_time), -1);
    EXPECT_EQ(errno, EINVAL);
  }});
}

}  // namespace
}  // namespace neptune::interpose
