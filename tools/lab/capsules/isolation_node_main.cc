// The effect of requests that wait for a silent dependency on all others of their node; for
// capsule_isolation.
//
//   isolation_node --dependency=peer --cycles=5 --phase_ms=2000     prints one line: NAME=VALUE ...
//
//   healthy ──► blocked ──► released ──► all have their answers ──► healthy ...
//
// One open loop of unrelated requests lasts through all phases, and /metrics is read.
//
// More than 10 requests per kernel thread of the process block. Two programs are built from this
// source, one of them interposed.

#include <arpa/inet.h>
#include <gflags/gflags.h>
#include <glog/logging.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "neptune/base/strings.h"
#include "neptune/interpose/call_permit.h"
#include "neptune/world/real/real_world.h"
#include "tools/lab/capsules/isolation_load.h"
#include "tools/lab/capsules/silent_dependency.h"

DEFINE_string(dependency, "peer", "peer, fifo, connect or name");
DEFINE_int32(cycles, 3, "number of alternating healthy and blocked phases");
DEFINE_int32(phase_ms, 2000, "length of a phase");
DEFINE_double(rate, 1000, "unrelated requests a second");
DEFINE_int32(work_us, 100, "processor time of a request");
DEFINE_uint32(multicast_port, 7435, "multicast port of the cluster; no other node may use it");
DEFINE_uint64(seed, 1, "seed of the arrival times");

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using std::chrono::milliseconds;

constexpr char kCapsule[] = "silent";
// Multiple of the initial number of kernel threads; device capsules add further ones.
constexpr int kRequestsPerThread = 20;
// Requests that take longer are lost.
constexpr Duration kInTime = milliseconds(50);
// The measured time after the release of a dependency, and its steps.
constexpr Duration kRelease = std::chrono::seconds(1);
constexpr Duration kStep = milliseconds(100);
// Longer than any phase, so that only the dependency releases requests.
constexpr Duration kBlockMax = std::chrono::seconds(20);
constexpr int kMetricsPauseMs = 50;

IsolationLoadOptions LoadOptions() {
  return {.multicast_port = static_cast<uint16_t>(FLAGS_multicast_port),
          .rate = FLAGS_rate,
          .work = std::chrono::microseconds(FLAGS_work_us),
          .seed = FLAGS_seed};
}

int KernelThreadCount() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                        std::filesystem::directory_iterator()));
}

Duration MachineTime() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// The response time of the page; a second if there is no answer.
Duration TimeOfMetrics(const neptune::Endpoint& at) {
  const Duration begin = MachineTime();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(at.port);
  address.sin_addr.s_addr = htonl(at.address);
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{.tv_sec = 1, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  const std::string request =
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  char bytes[16 * 1024];
  ssize_t size = -1;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    size = write(connection, request.data(), request.size());
  }
  while (size > 0) size = read(connection, bytes, sizeof(bytes));
  close(connection);
  return size == 0 ? MachineTime() - begin : std::chrono::seconds(1);
}

class Isolation {
 public:
  Isolation()
      : helper_world_(neptune::MakeRealWorld({})),
        capsules_({.make_helpers = [this](const std::string& name,
                                          int count) { return MakeHelpers(name, count); }}),
        nodes_(LoadOptions(), &dependency_),
        load_(nodes_.asker(), LoadOptions()) {
    neptune::interpose::UseCapsules(&capsules_);
  }
  ~Isolation() { neptune::interpose::UseCapsules(nullptr); }

  Status Run() {
    load_.Start();
    Pass(milliseconds(FLAGS_phase_ms) / 2);  // warms up
    for (int cycle = 0; cycle < FLAGS_cycles; ++cycle) NEPTUNE_RETURN_IF_ERROR(RunCycle());
    Print(load_.Stop());
    return OkStatus();
  }

 private:
  StatusOr<std::unique_ptr<SilentDependency>> MakeDependency() {
    if (FLAGS_dependency == "peer") return MakeSilentPeer();
    if (FLAGS_dependency == "fifo") return MakeSilentFifo();
    if (FLAGS_dependency == "connect") return MakeFullListener();
    if (FLAGS_dependency == "name") return MakeSilentNameServer(&name_server_);
    return neptune::InvalidArgument("no dependency ", FLAGS_dependency);
  }

  // Helper threads that use our name server, if there is one.
  std::unique_ptr<neptune::HelperThreads> MakeHelpers(const std::string& name, int count) {
    auto helpers = helper_world_->MakeHelperThreads(name, count);
    if (name_server_ == 0) return helpers;
    // Each thread takes one task, because none continues before all have one.
    auto* const all = new absl::Barrier(count);
    for (int i = 0; i < count; ++i) {
      helpers->Run([all, port = name_server_] {
        UseNameServer(port);
        if (all->Block()) delete all;
      });
    }
    return helpers;
  }

  Status MakeCapsule() {
    neptune::CapsuleConfig config;
    config.name = kCapsule;
    NEPTUNE_ASSIGN_OR_RETURN(const auto rule,
                             neptune::ClassificationRule::Parse(dependency_->Rule()));
    config.type = rule.type();
    config.rules = {rule};
    config.limits.timeout = kBlockMax;
    Status status;
    nodes_.asker().Run([&] { status = capsules_.Create(config); });
    return status;
  }

  int ResidentCount() {
    size_t count = 0;
    nodes_.asker().Run([&] {
      for (const auto& report : capsules_.Inspect(neptune::this_thread::Now())) {
        if (report.config.name == kCapsule) count = report.statistics.control.resident_count;
      }
    });
    return static_cast<int>(count);
  }

  // Waits, and reads the administration page in the meantime.
  void Pass(Duration time) {
    const Duration end = MachineTime() + time;
    while (MachineTime() < end) {
      const Duration took = TimeOfMetrics(nodes_.node().node().admin_endpoint());
      metrics_time_max_ = std::max(metrics_time_max_, took);
      poll(nullptr, 0, kMetricsPauseMs);
    }
  }

  Span PassPhase() {
    const Duration begin = load_.Now();
    Pass(milliseconds(FLAGS_phase_ms));
    return {begin, load_.Now()};
  }

  Status RunCycle() {
    healthy_.push_back(PassPhase());
    NEPTUNE_ASSIGN_OR_RETURN(dependency_, MakeDependency());
    NEPTUNE_RETURN_IF_ERROR(MakeCapsule());
    blocked_count_ = kRequestsPerThread * KernelThreadCount();
    BlockedRequests requests(nodes_.asker(), blocked_count_, kBlockMax);
    requests.Start();
    blocked_.push_back(PassPhase());
    resident_count_ = ResidentCount();
    kernel_thread_count_ = KernelThreadCount();
    NoteRelease();
    dependency_->LetGo(blocked_count_);
    Pass(kRelease);
    unanswered_count_ += blocked_count_ - requests.Await();
    Status status;
    nodes_.asker().Run([&] { status = capsules_.Destroy(kCapsule); });
    dependency_.reset();
    return status;
  }

  void NoteRelease() {
    const Duration begin = load_.Now();
    for (Duration step = begin; step < begin + kRelease; step += kStep) {
      release_.push_back({step, step + kStep});
    }
  }

  void Print(const std::vector<Sample>& samples) const {
    double release_low = 1;
    for (const Span& step : release_) {
      release_low = std::min(release_low, InTimeShare(samples, {step}, kInTime));
    }
    const auto us = [&](const std::vector<Span>& spans, double share) {
      return 1e3 * neptune::ToMillis(Percentile(samples, spans, share));
    };
    std::printf(
        "healthy_goodput=%.5f blocked_goodput=%.5f release_low=%.5f healthy_p50_us=%.1f "
        "healthy_p99_us=%.1f blocked_p99_us=%.1f metrics_ms_max=%.3f blocked_count=%d "
        "resident_count=%d kernel_thread_count=%d unanswered_count=%d\n",
        InTimeShare(samples, healthy_, kInTime), InTimeShare(samples, blocked_, kInTime),
        release_low, us(healthy_, 0.5), us(healthy_, 0.99), us(blocked_, 0.99),
        neptune::ToMillis(metrics_time_max_), blocked_count_, resident_count_, kernel_thread_count_,
        unanswered_count_);
    std::fflush(stdout);
  }

  const std::unique_ptr<neptune::World> helper_world_;
  neptune::CapsuleStack capsules_;
  std::unique_ptr<SilentDependency> dependency_;
  uint16_t name_server_ = 0;
  IsolationNodes nodes_;
  UnrelatedLoad load_;
  std::vector<Span> healthy_;
  std::vector<Span> blocked_;
  std::vector<Span> release_;
  Duration metrics_time_max_{0};
  int resident_count_ = 0;
  int kernel_thread_count_ = 0;
  int blocked_count_ = 0;
  int unanswered_count_ = 0;
};

}  // namespace
}  // namespace search::lab

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  const neptune::Status status = search::lab::Isolation().Run();
  if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
