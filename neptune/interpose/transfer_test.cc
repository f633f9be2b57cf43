// Calls that read, write, connect and accept on user-level threads park, and behave as in POSIX.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "neptune/interpose/test_sockets.h"
#include "neptune/interpose/user_threads.h"

namespace neptune::interpose {
namespace {

using std::chrono::milliseconds;

TEST(TransferTest, AReadParksItsThreadAndTheKernelThreadGoesOn) {
  UserThreads threads;
  int pipe_ends[2];
  std::string got;
  threads.Run({[&] {
                 ASSERT_EQ(pipe(pipe_ends), 0);
                 char data[8] = {};
                 ASSERT_EQ(read(pipe_ends[0], data, sizeof(data)), 5);
                 got = data;
               },
               [&] { ASSERT_EQ(write(pipe_ends[1], "hello", 5), 5); }});
  EXPECT_EQ(got, "hello");
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(TransferTest, ErrnoIsLeftAloneByWhatSucceeds) {
  UserThreads threads;
  Pair* pair = nullptr;
  threads.Run({[&] {
                 pair = new Pair;
                 errno = ENOTTY;
                 char byte;
                 EXPECT_EQ(read(pair->ends[0], &byte, 1), 1);
                 EXPECT_EQ(errno, ENOTTY);
               },
               [&] {
                 errno = EDOM;
                 EXPECT_EQ(write(pair->ends[1], "x", 1), 1);
                 EXPECT_EQ(errno, EDOM);
               }});
  delete pair;
}

TEST(TransferTest, AWriteTakesAllOrWaits) {
  UserThreads threads;
  const std::string sent(4 << 20, 'n');
  std::string received;
  int pipe_ends[2];
  threads.Run({[&] {
                 ASSERT_EQ(pipe(pipe_ends), 0);
                 EXPECT_EQ(write(pipe_ends[1], sent.data(), sent.size()),
                           static_cast<ssize_t>(sent.size()));
                 close(pipe_ends[1]);
               },
               [&] {
                 char data[10000];
                 ssize_t size;
                 while ((size = read(pipe_ends[0], data, sizeof(data))) > 0) {
                   received.append(data, static_cast<size_t>(size));
                 }
                 close(pipe_ends[0]);
               }});
  EXPECT_EQ(received, sent);
}

TEST(TransferTest, MessagesOfManyPartsArriveWhole) {
  UserThreads threads;
  Pair* pair = nullptr;
  std::string first(700'000, 'a');
  std::string second(900'000, 'b');
  std::string got(first.size() + second.size(), ' ');
  threads.Run({[&] {
                 pair = new Pair;
                 iovec parts[] = {{first.data(), first.size()}, {second.data(), second.size()}};
                 msghdr message{};
                 message.msg_iov = parts;
                 message.msg_iovlen = 2;
                 EXPECT_EQ(sendmsg(pair->ends[0], &message, MSG_NOSIGNAL),
                           static_cast<ssize_t>(got.size()));
                 EXPECT_EQ(writev(pair->ends[0], parts, 2), static_cast<ssize_t>(got.size()));
               },
               [&] {
                 EXPECT_EQ(recv(pair->ends[1], got.data(), got.size(), MSG_WAITALL),
                           static_cast<ssize_t>(got.size()));
                 EXPECT_EQ(got, first + second);
                 std::string begin(10, ' ');
                 std::string rest(got.size() - 10, ' ');
                 iovec parts[] = {{begin.data(), begin.size()}, {rest.data(), rest.size()}};
                 msghdr message{};
                 message.msg_iov = parts;
                 message.msg_iovlen = 2;
                 EXPECT_EQ(recvmsg(pair->ends[1], &message, MSG_WAITALL),
                           static_cast<ssize_t>(got.size()));
                 EXPECT_EQ(begin + rest, first + second);
               }});
  delete pair;
}

TEST(TransferTest, SendfileAndSpliceWaitForTheirReaders) {
  UserThreads threads;
  constexpr size_t kSize = 1 << 20;
  Pair* pair = nullptr;
  size_t received = 0;
  threads.Run({[&] {
                 pair = new Pair;
                 std::FILE* const file = std::tmpfile();
                 const std::string content(kSize, 'f');
                 ASSERT_EQ(std::fwrite(content.data(), 1, kSize, file), kSize);
                 ASSERT_EQ(std::fflush(file), 0);
                 off_t offset = 0;
                 EXPECT_EQ(sendfile(pair->ends[0], fileno(file), &offset, kSize),
                           static_cast<ssize_t>(kSize));
                 std::fclose(file);
                 int ends[2];
                 ASSERT_EQ(pipe(ends), 0);
                 ASSERT_EQ(write(ends[1], "spliced", 7), 7);
                 EXPECT_EQ(splice(ends[0], nullptr, pair->ends[0], nullptr, 7, 0), 7);
                 close(ends[0]);
                 close(ends[1]);
                 shutdown(pair->ends[0], SHUT_WR);
               },
               [&] {
                 char data[4096];
                 ssize_t size;
                 while ((size = read(pair->ends[1], data, sizeof(data))) > 0) {
                   received += static_cast<size_t>(size);
                 }
               }});
  EXPECT_EQ(received, kSize + 7);
  delete pair;
}

TEST(TransferTest, ConnectAndAcceptPark) {
  UserThreads threads;
  sockaddr_in address;
  int listener = -1;
  std::string answer(4, ' ');
  threads.Run({[&] {
                 listener = ListenAnywhere(&address);
                 const int peer = accept(listener, nullptr, nullptr);
                 ASSERT_GE(peer, 0);
                 EXPECT_EQ(fcntl(peer, F_GETFL) & O_NONBLOCK, 0);
                 char question[4];
                 EXPECT_EQ(recv(peer, question, sizeof(question), MSG_WAITALL), 4);
                 EXPECT_EQ(send(peer, "pong", 4, 0), 4);
                 close(peer);
               },
               [&] {
                 const int fd = socket(AF_INET, SOCK_STREAM, 0);
                 ASSERT_EQ(connect(fd, Plain(address), sizeof(address)), 0) << std::strerror(errno);
                 EXPECT_EQ(send(fd, "ping", 4, 0), 4);
                 EXPECT_EQ(recv(fd, answer.data(), 4, MSG_WAITALL), 4);
                 close(fd);
               }});
  EXPECT_EQ(answer, "pong");
  close(listener);
}

TEST(TransferTest, ARefusedConnectionSaysSo) {
  UserThreads threads;
  threads.Run({[&] {
    sockaddr_in address;
    close(ListenAnywhere(&address));  // no server listens any more
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(fd, Plain(address), sizeof(address)), -1);
    EXPECT_EQ(errno, ECONNREFUSED);
    close(fd);
  }});
}

TEST(TransferTest, AFullLocalListenerIsWaitedFor) {
  UserThreads threads;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The abstract namespace leaves no file.
  std::snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "neptune-%d", getpid());
  const auto* const plain = reinterpret_cast<const sockaddr*>(&address);
  int listener = -1;
  constexpr int kCount = 8;
  int connected_count = 0;
  std::vector<std::function<void()>> bodies = {[&] {
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(bind(listener, plain, sizeof(address)), 0);
    ASSERT_EQ(listen(listener, 0), 0);
    LetOthersRun();
    EXPECT_LT(connected_count, kCount);
    for (int i = 0; i < kCount; ++i) close(accept(listener, nullptr, nullptr));
  }};
  for (int i = 0; i < kCount; ++i) {
    bodies.push_back([&] {
      const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
      EXPECT_EQ(connect(fd, plain, sizeof(address)), 0);
      ++connected_count;
      close(fd);
    });
  }
  threads.Run(std::move(bodies));
  EXPECT_EQ(connected_count, kCount);
  close(listener);
}

TEST(TransferTest, TimeLimitsOfSocketsAreKept) {
  UserThreads threads;
  threads.Run({[&] {
    Pair pair;
    timeval time = Millis(5);
    ASSERT_EQ(setsockopt(pair.ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)), 0);
    ASSERT_EQ(setsockopt(pair.ends[0], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)), 0);
    char byte;
    const TimePoint begin = this_thread::Now();
    EXPECT_EQ(recv(pair.ends[0], &byte, 1, 0), -1);
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_GE(this_thread::Now() - begin, milliseconds(5));
    // The bytes sent before the timeout count.
    const std::string much(8 << 20, 'm');
    const ssize_t sent = send(pair.ends[0], much.data(), much.size(), 0);
    EXPECT_GT(sent, 0);
    EXPECT_LT(sent, static_cast<ssize_t>(much.size()));
    EXPECT_EQ(send(pair.ends[0], much.data(), much.size(), 0), -1);
    EXPECT_EQ(errno, EAGAIN);
  }});
}

TEST(TransferTest, ConnectionWakesOneOfManyAcceptingThreads) {
  UserThreads threads(2);
  sockaddr_in address;
  int listener = -1;
  threads.Run({[&] { listener = ListenAnywhere(&address); }});
  constexpr int kCount = 50;
  std::atomic<int> accepted_count{0};
  for (size_t loop = 0; loop < 2; ++loop) {
    for (int i = 0; i < kCount; ++i) {
      threads.Start(loop, [&] {
        const int peer = accept(listener, nullptr, nullptr);
        EXPECT_GE(peer, 0);
        ++accepted_count;
        close(peer);
      });
    }
  }
  threads.Start(0, [&] {
    for (int i = 0; i < 2 * kCount; ++i) {
      const int fd = socket(AF_INET, SOCK_STREAM, 0);
      EXPECT_EQ(connect(fd, Plain(address), sizeof(address)), 0);
      close(fd);
      if (i % 10 == 0) this_thread::Yield();
    }
  });
  threads.Wait();
  EXPECT_EQ(accepted_count, 2 * kCount);
  close(listener);
}

TEST(TransferTest, EventsAndTimersAreRead) {
  UserThreads threads;
  int event = -1;
  threads.Run({[&] {
                 event = eventfd(0, 0);
                 uint64_t value = 0;
                 EXPECT_EQ(read(event, &value, sizeof(value)), 8);
                 EXPECT_EQ(value, 7u);
               },
               [&] {
                 const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
                 const itimerspec soon{{0, 0}, {0, 1'000'000}};
                 ASSERT_EQ(timerfd_settime(timer, 0, &soon, nullptr), 0);
                 uint64_t count = 0;
                 EXPECT_EQ(read(timer, &count, sizeof(count)), 8);
                 close(timer);
                 const uint64_t seven = 7;
                 EXPECT_EQ(write(event, &seven, sizeof(seven)), 8);
               }});
  close(event);
}

}  // namespace
}  // namespace neptune::interpose
