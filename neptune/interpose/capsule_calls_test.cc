// Interposed calls in capsules: lookup by peer or path, bounds, timeouts, statistics, errno.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/interpose/call_permit.h"
#include "neptune/interpose/test_sockets.h"
#include "neptune/interpose/user_threads.h"

namespace neptune::interpose {
namespace {

using std::chrono::milliseconds;

// False on a machine without a file of hosts, such as a root that was only just unpacked.
bool KnowsLocalhost() {
  addrinfo* list = nullptr;
  if (getaddrinfo("localhost", nullptr, nullptr, &list) != 0) return false;
  freeaddrinfo(list);
  return true;
}

class CapsuleCallsTest : public testing::Test {
 protected:
  CapsuleCallsTest() {
    UseCapsules(&capsules_);
    // A server that accepts connections into its backlog and never sends anything.
    silent_listener_ = ListenAnywhere(&silent_, 512);
  }
  ~CapsuleCallsTest() override {
    UseCapsules(nullptr);
    close(silent_listener_);
  }

  void Create(const std::string& name, const std::string& rule, CapsuleLimits limits,
              size_t helper_count = 0, const std::string& migrate_to = {}) {
    CapsuleConfig config;
    config.name = name;
    config.rules = {ClassificationRule::Parse(rule).value()};
    config.type = config.rules[0].type();
    config.limits = limits;
    config.processing_count_max = helper_count;
    config.migrate_to = migrate_to;
    threads_.OnLoop(0, [&] {
      const Status status = capsules_.Create(config);
      ASSERT_TRUE(status.ok()) << status;
    });
  }
  CapsuleStatistics Statistics(const std::string& name) {
    CapsuleStatistics found;
    threads_.OnLoop(0, [&] {
      for (const CapsuleReport& report : capsules_.Inspect(Loop::Current()->Now())) {
        if (report.config.name == name) found = report.statistics;
      }
    });
    return found;
  }
  std::string SilentRule() const { return StrCat("inet:127.0.0.1:", ntohs(silent_.sin_port)); }

  // A connection to the silent server.
  int ConnectToSilent() {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(fd, Plain(silent_), sizeof(silent_)), 0) << std::strerror(errno);
    return fd;
  }

  UserThreads threads_;
  CapsuleStack capsules_{{.make_helpers = [this](const std::string& name, int count) {
    return threads_.world().MakeHelperThreads(name, count);
  }}};
  sockaddr_in silent_{};
  int silent_listener_ = -1;
};

TEST_F(CapsuleCallsTest, AReadWaitsInTheCapsuleOfItsPeerAndIsTimed) {
  Create("silent", SilentRule(), {.timeout = milliseconds(20)});
  threads_.Run({[&] {
    const int fd = ConnectToSilent();
    char byte;
    const TimePoint begin = this_thread::Now();
    EXPECT_EQ(read(fd, &byte, 1), -1);
    EXPECT_EQ(errno, ETIMEDOUT);
    EXPECT_GE(this_thread::Now() - begin, milliseconds(20));
    pollfd one = {fd, POLLIN, 0};
    EXPECT_EQ(poll(&one, 1, -1), -1);
    EXPECT_EQ(errno, ETIMEDOUT);
    EXPECT_EQ(poll(&one, 1, 1), 0) << "its own limit comes first";
    close(fd);
  }});
  const CapsuleStatistics statistics = Statistics("silent");
  EXPECT_EQ(statistics.control.entered, 3u);
  EXPECT_EQ(statistics.control.timed_out, 3u);
  EXPECT_EQ(statistics.control.resident_count, 0u);
}

TEST_F(CapsuleCallsTest, CallOverTheCapsulesBoundIsRefused) {
  Create("silent", SilentRule(), {.resident_count_max = 3, .timeout = milliseconds(200)});
  std::vector<int> connections;
  threads_.Run({[&] {
    for (int i = 0; i < 5; ++i) connections.push_back(ConnectToSilent());
  }});
  std::vector<int> errors;
  std::vector<std::function<void()>> bodies;
  for (const int fd : connections) {
    bodies.push_back([&errors, fd] {
      char byte;
      EXPECT_EQ(recv(fd, &byte, 1, 0), -1);
      errors.push_back(errno);
      close(fd);
    });
  }
  threads_.Run(std::move(bodies));
  EXPECT_EQ(errors,
            (std::vector<int>{ECONNREFUSED, ECONNREFUSED, ETIMEDOUT, ETIMEDOUT, ETIMEDOUT}));
  EXPECT_EQ(Statistics("silent").control.refused, 2u);
}

// A program that is refused at once can act as if the peer were down.
TEST_F(CapsuleCallsTest, AConnectionIsRefusedBeforeItIsBegun) {
  Create("silent", SilentRule(), {.resident_count_max = 1, .timeout = milliseconds(20)});
  threads_.Run({[&] {
                  const int fd = ConnectToSilent();
                  char byte;
                  EXPECT_EQ(read(fd, &byte, 1), -1);
                  close(fd);
                },
                [&] {
                  const int fd = socket(AF_INET, SOCK_STREAM, 0);
                  EXPECT_EQ(connect(fd, Plain(silent_), sizeof(silent_)), -1);
                  EXPECT_EQ(errno, ECONNREFUSED);
                  this_thread::SleepFor(milliseconds(30));
                  EXPECT_EQ(connect(fd, Plain(silent_), sizeof(silent_)), 0)
                      << "there is room again";
                  close(fd);
                }});
  EXPECT_EQ(Statistics("silent").control.refused, 1u);
  EXPECT_EQ(Statistics("silent").control.entered, 1u);
}

TEST_F(CapsuleCallsTest, AConnectionGoesToTheReplicaOfACapsuleThatIsFull) {
  sockaddr_in other{};
  const int other_listener = ListenAnywhere(&other, 8);
  Create("other", StrCat("inet:127.0.0.1:", ntohs(other.sin_port)), {});
  Create("silent", SilentRule(), {.resident_count_max = 1, .timeout = milliseconds(20)}, 0,
         "other");
  threads_.Run({[&] {
                  const int fd = ConnectToSilent();
                  char byte;
                  EXPECT_EQ(read(fd, &byte, 1), -1);
                  close(fd);
                },
                [&] {
                  const int fd = ConnectToSilent();
                  sockaddr_in peer{};
                  socklen_t size = sizeof(peer);
                  EXPECT_EQ(getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size), 0);
                  EXPECT_EQ(peer.sin_port, other.sin_port);
                  close(fd);
                }});
  close(other_listener);
}

// A connected socket waits for its own peer, also if its capsule migrates calls.
TEST_F(CapsuleCallsTest, AWaitOnAConnectionIsNotSentElsewhere) {
  Create("other", "inet:10.0.0.1:80", {});
  Create("silent", SilentRule(), {.resident_count_max = 1, .timeout = milliseconds(20)}, 0,
         "other");
  threads_.Run({[&] {
    const int connections[2] = {ConnectToSilent(), ConnectToSilent()};
    std::vector<int> errors;
    std::vector<ThreadRef> readers;
    for (const int fd : connections) {
      readers.push_back(*ThreadScheduler::Current()->Spawn([&errors, fd] {
        char byte;
        EXPECT_EQ(read(fd, &byte, 1), -1);
        errors.push_back(errno);
      }));
    }
    for (const ThreadRef& reader : readers) ThreadScheduler::Current()->Join(*reader.get(), kNever);
    EXPECT_EQ(errors, (std::vector<int>{ECONNREFUSED, ETIMEDOUT}));
    for (const int fd : connections) close(fd);
  }});
  EXPECT_EQ(Statistics("other").control.entered, 0u);
}

TEST_F(CapsuleCallsTest, BytesThatArriveWhileACallWaitsForItsTurnAreRead) {
  // A server that answers; one call at a time may be with it.
  sockaddr_in address;
  int listener = -1;
  threads_.Run({[&] { listener = ListenAnywhere(&address); }});
  Create("busy", StrCat("inet:127.0.0.1:", ntohs(address.sin_port)), {}, 1);
  std::vector<std::function<void()>> bodies = {[&] {
    int peers[2];
    for (int& peer : peers) peer = accept(listener, nullptr, nullptr);
    LetOthersRun();
    // The answer to the second call arrives before the first call ends.
    EXPECT_EQ(send(peers[1], "x", 1, 0), 1);
    neptune::this_thread::SleepFor(milliseconds(5));
    EXPECT_EQ(send(peers[0], "x", 1, 0), 1);
    for (const int peer : peers) {
      char byte;
      EXPECT_EQ(recv(peer, &byte, 1, 0), 0);
      close(peer);
    }
  }};
  for (int i = 0; i < 2; ++i) {
    bodies.push_back([&] {
      const int fd = socket(AF_INET, SOCK_STREAM, 0);
      ASSERT_EQ(connect(fd, Plain(address), sizeof(address)), 0);
      char byte;
      EXPECT_EQ(recv(fd, &byte, 1, 0), 1);
      close(fd);
    });
  }
  threads_.Run(std::move(bodies));
  EXPECT_EQ(Statistics("busy").waited, 1u);
  close(listener);
}

TEST_F(CapsuleCallsTest, ClosedWhileItWaitsItLeavesItsCapsule) {
  Create("silent", SilentRule(), {.timeout = std::chrono::seconds(100)});
  int fd = -1;
  threads_.Run({[&] {
                  fd = ConnectToSilent();
                  char byte;
                  EXPECT_EQ(read(fd, &byte, 1), -1);
                  EXPECT_EQ(errno, EBADF);
                },
                [&] {
                  LetOthersRun();
                  close(fd);
                }});
  EXPECT_EQ(Statistics("silent").control.entered, 1u);
  EXPECT_EQ(Statistics("silent").control.resident_count, 0u);
}

// A descriptor is closed while its call is not yet with the dependency: it ends when its turn
// comes.
TEST_F(CapsuleCallsTest, ClosedWhileItWaitsForItsTurnItEndsToo) {
  Create("silent", SilentRule(), {.timeout = milliseconds(30)}, 1);
  int fds[2] = {-1, -1};
  int errors[2] = {0, 0};
  const auto read_as = [&](int i) {
    return [&, i] {
      fds[i] = ConnectToSilent();
      char byte;
      EXPECT_EQ(read(fds[i], &byte, 1), -1);
      errors[i] = errno;
    };
  };
  threads_.Run({read_as(0), read_as(1), [&] {
                  LetOthersRun();
                  EXPECT_EQ(close(fds[1]), 0);
                  EXPECT_EQ(close(fds[0]), 0);
                }});
  EXPECT_EQ(errors[0], EBADF);
  EXPECT_EQ(errors[1], EBADF);
  EXPECT_EQ(Statistics("silent").control.resident_count, 0u);
  EXPECT_EQ(Statistics("silent").processing_count, 0u);
}

TEST_F(CapsuleCallsTest, ADuplicateBelongsToTheCapsuleOfItsOriginal) {
  Create("silent", SilentRule(), {.timeout = milliseconds(20)});
  int fd = -1;
  int copy = -1;
  threads_.Run({[&] {
                  fd = ConnectToSilent();
                  copy = dup(fd);
                  char byte;
                  EXPECT_EQ(read(copy, &byte, 1), -1);
                  EXPECT_EQ(errno, ETIMEDOUT) << "though the original was closed";
                },
                [&] {
                  LetOthersRun();
                  close(fd);
                }});
  EXPECT_EQ(Statistics("silent").control.timed_out, 1u);
  close(copy);
}

TEST_F(CapsuleCallsTest, ASocketsOwnTimeLimitIsItsOwn) {
  Create("silent", SilentRule(), {.timeout = std::chrono::seconds(100)});
  threads_.Run({[&] {
    const int fd = ConnectToSilent();
    timeval time = Millis(5);
    ASSERT_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)), 0);
    char byte;
    EXPECT_EQ(read(fd, &byte, 1), -1);
    EXPECT_EQ(errno, EAGAIN);
    close(fd);
  }});
  EXPECT_EQ(Statistics("silent").control.timed_out, 1u);
}

// Counts the threads outside of the pool.
class CountingPlace final : public MainPoolPlace {
 public:
  void GiveBack() override { ++given_back; }
  void Readmit() override {
    ++taken_again;
    errno = ERANGE;  // must not reach the caller
  }
  int given_back = 0;
  int taken_again = 0;
};

TEST_F(CapsuleCallsTest, ARequestThatWaitsIsOutsideOfTheMainPool) {
  Create("silent", SilentRule(), {.timeout = milliseconds(5)});
  threads_.Run({[&] {
    CountingPlace place;
    MainPoolPlace::SetCurrent(&place);
    const int fd = ConnectToSilent();
    EXPECT_EQ(place.given_back, 0) << "it did not have to wait";
    char byte;
    EXPECT_EQ(read(fd, &byte, 1), -1);
    EXPECT_EQ(errno, ETIMEDOUT);
    EXPECT_EQ(place.given_back, 1);
    EXPECT_EQ(place.taken_again, 1);
    MainPoolPlace::SetCurrent(nullptr);
    close(fd);
  }});
}

TEST_F(CapsuleCallsTest, ARequestWhoseNameIsResolvedIsOutsideOfTheMainPool) {
  threads_.Run({[&] {
    CountingPlace place;
    MainPoolPlace::SetCurrent(&place);
    addrinfo* list = nullptr;
    if (getaddrinfo("localhost", nullptr, nullptr, &list) == 0) freeaddrinfo(list);
    EXPECT_EQ(place.given_back, 1);
    EXPECT_EQ(place.taken_again, 1);
    MainPoolPlace::SetCurrent(nullptr);
  }});
}

TEST_F(CapsuleCallsTest, UnconnectedSocketWaitsInNoCapsule) {
  int ends[2];
  threads_.Run({[&] {
                  ASSERT_EQ(pipe(ends), 0);
                  char byte;
                  EXPECT_EQ(read(ends[0], &byte, 1), 1);
                },
                [&] { EXPECT_EQ(write(ends[1], "x", 1), 1); }});
  EXPECT_EQ(Statistics("default").control.entered, 0u);
  threads_.Run({[&] {
    const int fd = ConnectToSilent();
    timeval time = Millis(1);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    char byte;
    EXPECT_EQ(read(fd, &byte, 1), -1);
    close(fd);
  }});
  EXPECT_EQ(Statistics("default").control.entered, 1u) << "no rule takes it, so the default does";
  close(ends[0]);
  close(ends[1]);
}

TEST_F(CapsuleCallsTest, ADestroyedCapsuleTimesOutItsResidentsAndTakesNoMore) {
  Create("silent", SilentRule(), {.timeout = milliseconds(50)});
  int waiting_fd = -1;
  threads_.Run({[&] {
                  waiting_fd = ConnectToSilent();
                  char byte;
                  EXPECT_EQ(read(waiting_fd, &byte, 1), -1);
                  EXPECT_EQ(errno, ETIMEDOUT);
                },
                [&] {
                  LetOthersRun();
                  EXPECT_TRUE(capsules_.Destroy("silent").ok());
                  const int fd = ConnectToSilent();
                  timeval time = Millis(1);
                  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
                  char byte;
                  EXPECT_EQ(read(fd, &byte, 1), -1);
                  EXPECT_EQ(errno, EAGAIN);
                  close(fd);
                }});
  EXPECT_EQ(Statistics("default").control.entered, 1u);
  close(waiting_fd);
}

TEST_F(CapsuleCallsTest, NamesAreResolvedOnHelperThreadsAndRulesKnowThem) {
  if (!KnowsLocalhost()) GTEST_SKIP() << "this machine resolves no name: /etc/hosts is missing";
  Create("local", "inet:localhost", {.timeout = milliseconds(10)});
  threads_.Run({[&] {
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    ASSERT_EQ(getaddrinfo("localhost", nullptr, &hints, &list), 0);
    ASSERT_NE(list, nullptr);
    sockaddr_in peer = *reinterpret_cast<sockaddr_in*>(list->ai_addr);
    freeaddrinfo(list);
    peer.sin_port = silent_.sin_port;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(connect(fd, Plain(peer), sizeof(peer)), 0);
    char byte;
    EXPECT_EQ(read(fd, &byte, 1), -1);
    EXPECT_EQ(errno, ETIMEDOUT);
    close(fd);
    ASSERT_EQ(getaddrinfo("127.0.0.1", "80", &hints, &list), 0) << "digits need no resolver";
    freeaddrinfo(list);
    hostent* const entry = gethostbyname("localhost");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->h_addrtype, AF_INET);
    char host[NI_MAXHOST];
    EXPECT_EQ(getnameinfo(Plain(peer), sizeof(peer), host, sizeof(host), nullptr, 0, 0), 0);
    EXPECT_GT(std::strlen(host), 0u);
  }});
  EXPECT_EQ(Statistics("names").control.entered, 3u);
  EXPECT_EQ(Statistics("names").control.done, 3u);
  EXPECT_EQ(Statistics("local").control.timed_out, 1u);
}

TEST_F(CapsuleCallsTest, AFullResolverSaysTryAgain) {
  Create("resolver", "disk:/etc/resolv.conf", {.resident_count_max = 1}, 1);
  threads_.Run({[&] {
    CapsulePermit only;
    ASSERT_TRUE(only.Enter(capsules_, DeviceOperation{"/etc/resolv.conf"}).ok());
    addrinfo* list = nullptr;
    EXPECT_EQ(getaddrinfo("localhost", nullptr, nullptr, &list), EAI_AGAIN);
    EXPECT_EQ(gethostbyname("localhost"), nullptr);
    EXPECT_EQ(h_errno, TRY_AGAIN);
  }});
}

class DeviceCallsTest : public CapsuleCallsTest {
 protected:
  DeviceCallsTest()
      : folder_((std::filesystem::path(testing::TempDir()) / "device_calls").string()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/file") << "0123456789";
  }
  ~DeviceCallsTest() override { std::filesystem::remove_all(folder_); }

  const std::string folder_;
};

TEST_F(DeviceCallsTest, FilesOfADevicesPathAreReadAndWrittenOnItsHelpers) {
  Create("disk", StrCat("disk:", folder_, "/**"), {}, 2);
  threads_.Run({[&] {
    const int fd = open(StrCat(folder_, "/./x/../file").c_str(), O_RDWR);
    EXPECT_EQ(fd, -1) << "there is no folder x";
    const int file = open(StrCat(folder_, "/./file").c_str(), O_RDWR);
    ASSERT_GE(file, 0) << std::strerror(errno);
    errno = EDOM;
    char data[16] = {};
    EXPECT_EQ(read(file, data, 4), 4);
    EXPECT_STREQ(data, "0123");
    EXPECT_EQ(pread(file, data, 2, 8), 2);
    EXPECT_STREQ(data, "8923");
    iovec parts[] = {{data, 1}, {data + 4, 2}};
    EXPECT_EQ(readv(file, parts, 2), 3);
    EXPECT_EQ(write(file, "xy", 2), 2);
    EXPECT_EQ(pwrite(file, "z", 1, 0), 1);
    EXPECT_EQ(writev(file, parts, 2), 3);
    EXPECT_EQ(fsync(file), 0);
    EXPECT_EQ(fdatasync(file), 0);
    EXPECT_EQ(errno, EDOM);
    pollfd one = {file, POLLIN, 0};
    EXPECT_EQ(poll(&one, 1, -1), 1) << "a file is always ready";
    close(file);
  }});
  EXPECT_EQ(*ReadFile(folder_ + "/file", 100), "z123456xy456");
  EXPECT_EQ(Statistics("disk").control.entered, 10u);
  EXPECT_EQ(Statistics("disk").control.done, 10u);
}

TEST_F(DeviceCallsTest, StreamsOfADevicesPathToo) {
  Create("disk", StrCat("disk:", folder_, "/**"), {}, 2);
  threads_.Run({[&] {
    std::FILE* const stream = std::fopen(StrCat(folder_, "/file").c_str(), "r+");
    ASSERT_NE(stream, nullptr);
    char data[4] = {};
    EXPECT_EQ(std::fread(data, 1, 3, stream), 3u);
    EXPECT_STREQ(data, "012");
    EXPECT_EQ(std::fseek(stream, 8, SEEK_SET), 0);
    EXPECT_EQ(std::fputs("AB", stream), 1);
    EXPECT_EQ(std::fclose(stream), 0);
    EXPECT_EQ(std::fopen(StrCat(folder_, "/none").c_str(), "r"), nullptr);
    EXPECT_EQ(errno, ENOENT);
  }});
  EXPECT_EQ(*ReadFile(folder_ + "/file", 100), "01234567AB");
  EXPECT_GE(Statistics("disk").control.entered, 3u);
}

// A character device that is always ready cannot be waited for.
TEST_F(DeviceCallsTest, ADeviceThatCannotBePolledIsWrittenOnItsHelpers) {
  Create("null", "disk:/dev/null", {}, 1);
  threads_.Run({[&] {
    const int device = open("/dev/null", O_WRONLY);
    ASSERT_GE(device, 0) << std::strerror(errno);
    EXPECT_EQ(write(device, "x", 1), 1);
    close(device);
  }});
  EXPECT_EQ(Statistics("null").control.done, 2u);
}

TEST_F(DeviceCallsTest, ReadWithoutADeviceRunsInItsThread) {
  threads_.Run({[&] {
    const int file = open(StrCat(folder_, "/file").c_str(), O_RDONLY);
    char data[16];
    EXPECT_EQ(read(file, data, sizeof(data)), 10);
    close(file);
  }});
}

TEST_F(DeviceCallsTest, AFifoParksInItsDevicesCapsule) {
  Create("disk", StrCat("disk:", folder_, "/**"), {.timeout = milliseconds(20)}, 1);
  const std::string path = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  constexpr int kCount = 20;
  int timed_out_count = 0;
  std::vector<std::function<void()>> bodies;
  int fd = -1;
  threads_.Run({[&] { fd = open(path.c_str(), O_RDWR); }});
  ASSERT_GE(fd, 0) << std::strerror(errno);
  for (int i = 0; i < kCount; ++i) {
    bodies.push_back([&] {
      char byte;
      EXPECT_EQ(read(fd, &byte, 1), -1);
      timed_out_count += errno == ETIMEDOUT ? 1 : 0;
    });
  }
  threads_.Run(std::move(bodies));
  EXPECT_EQ(timed_out_count, kCount);
  // None of these calls took the byte that arrives now.
  threads_.Run({[&] {
                  char byte = 0;
                  EXPECT_EQ(read(fd, &byte, 1), 1);
                  EXPECT_EQ(byte, 'y');
                },
                [&] { EXPECT_EQ(write(fd, "y", 1), 1); }});
  close(fd);
}

TEST_F(DeviceCallsTest, AFifoThatNobodyOpensIsGivenUpAndClosedLater) {
  Create("disk", StrCat("disk:", folder_, "/**"), {.timeout = milliseconds(20)}, 1);
  const std::string path = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  threads_.Run({[&] {
    EXPECT_EQ(open(path.c_str(), O_RDONLY), -1);
    EXPECT_EQ(errno, ETIMEDOUT);
  }});
  // Opening the other end releases the helper thread, which closes its end, so there is no reader.
  const int writer = open(path.c_str(), O_WRONLY);
  ASSERT_GE(writer, 0);
  pollfd one = {writer, POLLOUT, 0};
  while ((one.revents & POLLERR) == 0) poll(&one, 1, 10);
  close(writer);
}

}  // namespace
}  // namespace neptune::interpose
