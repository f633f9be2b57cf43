// Cost of parking in a blocking call, compared with the system calls alone.
//
// One byte is written after the reader has parked; the reader wakes, reads it, and parks again. The
// "Bare" benchmarks make the same system calls on the same kinds of descriptors and nothing else.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "neptune/interpose/libc.h"
#include "neptune/interpose/user_threads.h"

namespace neptune::interpose {
namespace {

void MakePair(int* ends) { PCHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0); }

void ClosePair(const int* ends) {
  close(ends[0]);
  close(ends[1]);
}

// Runs the measured loop on a user-level thread.
void RunOnUserThread(const std::function<void()>& body) {
  UserThreads threads;
  threads.Run({body});
}

// The reader parks; the writer writes and yields to the loop, which wakes the reader.
void BM_WriteToAParkedReader(benchmark::State& state) {
  RunOnUserThread([&] {
    int ends[2];
    MakePair(ends);
    uint64_t read_count = 0;
    const ThreadRef reader = *ThreadScheduler::Current()->Spawn([&] {
      char byte;
      while (read(ends[0], &byte, 1) == 1) ++read_count;
    });
    this_thread::Yield();
    uint64_t written_count = 0;
    for (auto _ : state) {
      PCHECK(write(ends[1], "x", 1) == 1);
      ++written_count;
      while (read_count < written_count) this_thread::Yield();
    }
    shutdown(ends[1], SHUT_RDWR);
    (void)ThreadScheduler::Current()->Join(*reader.get(), kNever);
    ClosePair(ends);
  });
}
BENCHMARK(BM_WriteToAParkedReader);

// Two threads that exchange messages: each round is two parks and two wakes without yields.
void BM_PingPong(benchmark::State& state) {
  RunOnUserThread([&] {
    int ends[2];
    MakePair(ends);
    const ThreadRef other = *ThreadScheduler::Current()->Spawn([&] {
      char byte;
      while (read(ends[1], &byte, 1) == 1) PCHECK(write(ends[1], &byte, 1) == 1);
    });
    char byte = 'x';
    for (auto _ : state) {
      PCHECK(write(ends[0], &byte, 1) == 1);
      PCHECK(read(ends[0], &byte, 1) == 1);
    }
    shutdown(ends[0], SHUT_RDWR);
    (void)ThreadScheduler::Current()->Join(*other.get(), kNever);
    ClosePair(ends);
  });
}
BENCHMARK(BM_PingPong);

// The minimum system calls for BM_PingPong on a loop with one poller: in each half a write, a
// failed read, a poll, a read.
void BM_PingPongBare(benchmark::State& state) {
  int ends[2];
  MakePair(ends);
  const int poller = epoll_create1(0);
  for (const int end : ends) {
    fcntl(end, F_SETFL, O_NONBLOCK);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET;
    PCHECK(epoll_ctl(poller, EPOLL_CTL_ADD, end, &event) == 0);
  }
  std::array<epoll_event, 64> events;
  const auto half = [&](int from, int to) {
    char byte = 'x';
    PCHECK(RealLibc().write(from, &byte, 1) == 1);
    PCHECK(RealLibc().read(from, &byte, 1) == -1);
    PCHECK(RealLibc().epoll_wait(poller, events.data(), 64, 0) >= 1);
    PCHECK(RealLibc().read(to, &byte, 1) == 1);
  };
  for (auto _ : state) {
    half(ends[0], ends[1]);
    half(ends[1], ends[0]);
  }
  close(poller);
  ClosePair(ends);
}
BENCHMARK(BM_PingPongBare);

// Calls that do not wait, with and without interposition.
void BM_ReadyRead(benchmark::State& state) {
  const bool is_interposed = state.range(0) == 1;
  RunOnUserThread([&] {
    int ends[2];
    MakePair(ends);
    char byte = 'x';
    for (auto _ : state) {
      if (is_interposed) {
        PCHECK(write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1);
      } else {
        PCHECK(RealLibc().write(ends[1], &byte, 1) == 1 && RealLibc().read(ends[0], &byte, 1) == 1);
      }
    }
    ClosePair(ends);
  });
}
BENCHMARK(BM_ReadyRead)->ArgName("interposed")->Arg(0)->Arg(1);

}  // namespace
}  // namespace neptune::interpose

BENCHMARK_MAIN();
