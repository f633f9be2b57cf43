// Effects of the timer's signal on requests and calls.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "neptune/interpose/sert/ended_requests.h"
#include "neptune/sert/sert.h"

namespace neptune::sert {
namespace {

using SignalTest = TerminationTest;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// A connection that waits because the listener's queue is full, until the listener accepts one.
class SlowListener {
 public:
  SlowListener()
      : listener_(socket(AF_INET, SOCK_STREAM, 0)), filler_(socket(AF_INET, SOCK_STREAM, 0)) {
    socklen_t size = sizeof(address_);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int window = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &window, sizeof(window));
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address_), size), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address_), &size), 0);
    EXPECT_EQ(listen(listener_, 0), 0);
    EXPECT_EQ(Connect(filler_), 0);
  }
  ~SlowListener() {
    close(filler_);
    close(listener_);
  }

  int Connect(int fd) const {
    return connect(fd, reinterpret_cast<const sockaddr*>(&address_), sizeof(address_));
  }
  void Take() const { close(accept(listener_, nullptr, nullptr)); }

 private:
  sockaddr_in address_{};
  const int listener_;
  const int filler_;
};

TEST_F(SignalTest, AConnectionIsWaitedForOnAlthoughTheSignalCame) {
  static const SlowListener* listener;
  static int connected;
  const SlowListener slow;
  listener = &slow;
  connected = -1;
  std::thread taker;
  taker = std::thread([] {
    poll(nullptr, 0, 50);
    listener->Take();
  });
  EXPECT_TRUE(RunRequest(
      [](void*) {
        pthread_mutex_lock(&mutex);  // prevents ending while it connects
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        connected = listener->Connect(fd);
        while (Statistics().is_overdue == 0) {
        }
        pthread_mutex_unlock(&mutex);
        abort();  // the unlock is a check
      },
      nullptr));
  EXPECT_EQ(connected, 0);
  taker.join();
}

// The timer may send a signal to a request that ends at that moment.
TEST_F(SignalTest, ASignalForARequestThatHasEndedInterruptsNothing) {
  static int pair[2];
  ASSERT_EQ(pipe(pair), 0);
  static std::atomic<pid_t> reader_id;
  reader_id = 0;
  ssize_t size_read = 0;
  std::thread reader([&] {
    RunRequest([](void*) {}, nullptr);
    reader_id = gettid();
    char byte = 0;
    size_read = read(pair[0], &byte, 1);
  });
  while (reader_id == 0) {
  }
  for (int i = 0; i < 200; ++i) {
    siginfo_t info{};
    info.si_signo = SIGRTMIN + 3;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_value.sival_int = 1;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), reader_id.load(), info.si_signo, &info);
    sched_yield();
  }
  EXPECT_EQ(write(pair[1], "x", 1), 1);
  reader.join();
  EXPECT_EQ(size_read, 1);
  close(pair[0]);
  close(pair[1]);
}

void AskToEnd(int generation) {
  siginfo_t info{};
  info.si_signo = SIGRTMIN + 3;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_value.sival_int = generation;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), info.si_signo, &info);
}

TEST_F(SignalTest, ASignalForAnEarlierRequestDoesNotEndTheNext) {
  const OtherLimit limit(60);
  // A new thread's first request has generation 1 and its second 3, unless the thread reuses the
  // record of an ended thread; the first signal with effect shows which.
  const auto heeded = [] {
    int generation = -1;
    do {
      generation += 2;
      AskToEnd(generation);
    } while (Statistics().is_overdue == 0);
    return generation;
  };
  std::thread thread([&] {
    SERT_start();
    const int first = heeded();
    SERT_end();
    SERT_start();
    AskToEnd(first);
    EXPECT_EQ(Statistics().is_overdue, 0);
    EXPECT_EQ(heeded(), first + 2);
    SERT_end();
  });
  thread.join();
}

// The handler uses another stack than the request.
__attribute__((noinline)) bool IsUntouchedBelow() {
  constexpr size_t kNear = 2048;  // stack of this function and its callees
  constexpr size_t kSize = 8192;
  auto* const end = static_cast<volatile char*>(__builtin_frame_address(0)) - kNear;
  for (size_t i = 1; i <= kSize; ++i) end[-static_cast<ptrdiff_t>(i)] = 'u';
  BeOverdue();
  bool is_untouched = true;
  for (size_t i = 1; i <= kSize; ++i) is_untouched &= end[-static_cast<ptrdiff_t>(i)] == 'u';
  return is_untouched;
}

TEST_F(SignalTest, TheSignalIsHandledOnAStackOfItsOwn) {
  SERT_start();
  EXPECT_TRUE(IsUntouchedBelow());
  SERT_end();
}

TEST_F(SignalTest, AThreadThatHasAStackForSignalsKeepsIt) {
  std::thread thread([] {
    std::vector<char> bytes(1 << 16);
    const stack_t own = {.ss_sp = bytes.data(), .ss_flags = 0, .ss_size = bytes.size()};
    ASSERT_EQ(sigaltstack(&own, nullptr), 0);
    EXPECT_TRUE(RunRequest([](void*) { poll(nullptr, 0, 1'000'000); }, nullptr));
    stack_t present{};
    ASSERT_EQ(sigaltstack(nullptr, &present), 0);
    EXPECT_EQ(present.ss_sp, bytes.data());
    const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    sigaltstack(&none, nullptr);
  });
  thread.join();
}

TEST_F(SignalTest, AnAcceptIsWaitedForOnAlthoughTheSignalCame) {
  static int listener;
  static int accepted;
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listener = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  std::thread caller([&] {
    poll(nullptr, 0, 20);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), size), 0);
    close(fd);
  });
  accepted = -1;
  EXPECT_TRUE(RunRequest(
      [](void*) {
        pthread_mutex_lock(&mutex);
        accepted = accept(listener, nullptr, nullptr);
        while (Statistics().is_overdue == 0) {
        }
        pthread_mutex_unlock(&mutex);
        abort();
      },
      nullptr));
  EXPECT_GE(accepted, 0);
  caller.join();
  close(listener);
}

TEST_F(SignalTest, ARequestEndsOnceAlsoWhenTheSignalComesAtItsEnd) {
  const uint64_t before = Statistics().terminated;
  uint64_t ended_early = 0;
  for (int i = 0; i < 3000; ++i) {
    static volatile int steps;
    steps = 2000 * (i % 300);  // some end before the threshold, some after, many near it
    ended_early += RunRequest(
        [](void*) {
          SERT_begin_arena_only();
          while (steps > 0) steps = steps - 1;
          SERT_end_arena_only();
        },
        nullptr);
    const sert_statistics now = Statistics();
    ASSERT_EQ(now.is_overdue, 0) << "outside of a request nothing is overdue";
    ASSERT_EQ(now.held_memory, 0u);
  }
  EXPECT_EQ(Statistics().terminated, before + ended_early);
}

}  // namespace
}  // namespace neptune::sert
