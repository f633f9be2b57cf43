#include "tests/peers/load.h"

#include <gflags/gflags.h>
#include <poll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <csignal>
#include <cstdio>

DEFINE_uint32(port, 0, "load: port of the server on the loopback interface");
DEFINE_uint32(connections, 1, "load: connections");
DEFINE_uint32(depth, 1, "load: calls in flight on each connection, in a closed loop");
DEFINE_uint32(warm_up_ms, 200, "load: time before counting");
DEFINE_uint32(steady_ms, 1000, "load: time of counting");
DEFINE_double(rate, 0, "load: calls a second in an open loop; 0: closed loop");
DEFINE_double(slow_share, 0, "load: share of calls that go to the slow method");
DEFINE_string(slow_method, "Blocked", "load: Busy or Blocked");
DEFINE_uint64(seed, 1, "load: seed of the arrivals");

namespace neptune::peers {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kNsPerWholeS = 1'000'000'000;
constexpr double kNsPerS = 1e9;
constexpr int kSlowMs = 5;

int64_t ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kNsPerWholeS + now.tv_nsec;
}

}  // namespace

LoadOptions LoadOptionsFromFlags() {
  LoadOptions options;
  options.port = static_cast<uint16_t>(FLAGS_port);
  options.connections = static_cast<int>(FLAGS_connections);
  options.depth = static_cast<int>(FLAGS_depth);
  options.warm_up_ns = FLAGS_warm_up_ms * kNsPerMs;
  options.steady_ns = FLAGS_steady_ms * kNsPerMs;
  options.rate = FLAGS_rate;
  options.slow_share = FLAGS_slow_share;
  options.slow_method = FLAGS_slow_method;
  options.seed = FLAGS_seed;
  return options;
}

std::string ConsumeCommand(int* argc, char** argv) {
  if (*argc < 2) return "";
  std::string command = argv[1];
  std::rotate(argv + 1, argv + 2, argv + *argc);
  --*argc;
  return command;
}

int64_t NowNs() { return ReadClock(CLOCK_MONOTONIC); }

void WaitUntil(int64_t time_ns) {
  const timespec until{time_ns / kNsPerWholeS, time_ns % kNsPerWholeS};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

void BeBusy() {
  const int64_t end = ReadClock(CLOCK_THREAD_CPUTIME_ID) + kSlowMs * kNsPerMs;
  while (ReadClock(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

void BeBlocked() { poll(nullptr, 0, kSlowMs); }

void ReportPort(uint16_t port) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::printf("port %u\n", port);
  std::fflush(stdout);
}

void ServeUntilInputEnds() {
  char ignored[256];
  while (read(STDIN_FILENO, ignored, sizeof(ignored)) > 0) {
  }
}

Meter::Meter(const LoadOptions& options)
    : begin_ns_(NowNs() + options.warm_up_ns), end_ns_(begin_ns_ + options.steady_ns) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

bool Meter::Count(int64_t due_ns, bool slow) {
  const int64_t now = NowNs();
  if (!Tick(now)) return false;
  if (!began_) return true;
  ++count_;
  if (!slow && due_ns >= begin_ns_) latency_.Record(static_cast<uint64_t>(now - due_ns));
  return true;
}

bool Meter::Tick(int64_t now_ns) {
  if (ended_) return false;
  if (now_ns < begin_ns_) return true;
  if (!began_) {
    began_ = true;
    std::printf("begin\n");
    std::fflush(stdout);
  }
  if (now_ns < end_ns_) return true;
  ended_ = true;
  std::printf("end count=%" PRIu64 " p10_ns=%" PRIu64 " p50_ns=%" PRIu64 " p99_ns=%" PRIu64
              " lost=%" PRIu64 "\n",
              count_, latency_.Percentile(0.10), latency_.Percentile(0.50),
              latency_.Percentile(0.99), lost_count_);
  std::fflush(stdout);
  return false;
}

Arrivals::Arrivals(const LoadOptions& options)
    : mean_gap_ns_(kNsPerS / options.rate),
      slow_share_(options.slow_share),
      state_(options.seed * 0x9e3779b97f4a7c15),
      next_{NowNs(), false} {
  Advance();
}

// SplitMix64.
double Arrivals::Uniform() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

void Arrivals::Advance() {
  next_.due_ns += static_cast<int64_t>(-mean_gap_ns_ * std::log(1 - Uniform()));
  next_.slow = Uniform() < slow_share_;
}

}  // namespace neptune::peers
