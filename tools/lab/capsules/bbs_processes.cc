#include "tools/lab/capsules/bbs_processes.h"

#include <poll.h>
#include <time.h>

#include <csignal>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "tools/process/peer_process.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;

constexpr char kRedis[] = "/usr/bin/redis-server";
constexpr int kCacheCount = 2;
constexpr int kHanging = 1;

class Redis {
 public:
  static StatusOr<std::unique_ptr<Redis>> Start() {
    const uint16_t port = neptune::UniquePort().number();
    NEPTUNE_ASSIGN_OR_RETURN(
        auto process, PeerProcess::Start(kRedis,
                                         {"--bind", "127.0.0.1", "--port", StrCat(port), "--save",
                                          "", "--appendonly", "no", "--daemonize", "no"},
                                         -1));
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const std::string line, process->ReadLine());
      if (line.find("Ready to accept connections") != std::string::npos) break;
    }
    return std::make_unique<Redis>(std::move(process), StrCat("127.0.0.1:", port));
  }
  Redis(std::unique_ptr<PeerProcess> process, std::string endpoint)
      : process_(std::move(process)), endpoint_(std::move(endpoint)) {}
  // SIGKILL also ends a stopped process.
  ~Redis() { process_->Signal(SIGKILL); }

  const std::string& endpoint() const { return endpoint_; }
  void Signal(int signal) const { process_->Signal(signal); }

 private:
  const std::unique_ptr<PeerProcess> process_;
  const std::string endpoint_;
};

using Caches = std::vector<std::unique_ptr<Redis>>;

std::string IsolationName(Isolation isolation) {
  switch (isolation) {
    case Isolation::kBoundedPool:
      return "bounded";
    case Isolation::kUnboundedPool:
      return "unbounded";
    case Isolation::kCapsules:
      break;
  }
  return "capsules";
}

StatusOr<std::unique_ptr<PeerProcess>> StartForum(const BbsProcessesOptions& options,
                                                  const Caches& caches) {
  std::string servers;
  for (const auto& cache : caches) {
    StrAppend(&servers, servers.empty() ? "" : ",", cache->endpoint());
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      auto forum,
      PeerProcess::Start(
          "tools/lab/capsules/bbs_service",
          {StrCat("--redis=", servers), StrCat("--capsule_fields=", options.scheme.capsule_fields),
           StrCat("--isolation=", IsolationName(options.scheme.isolation)),
           StrCat("--pool=", options.scheme.pool), StrCat("--seed=", options.seed),
           StrCat("--length_s=", options.length_s)},
          -1));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string line, forum->ReadLine());
  if (line != "ready") return neptune::Unavailable("bbs_service: ", line);
  return forum;
}

double MachineSeconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void WaitUntil(double machine_s) {
  const double left_s = machine_s - MachineSeconds();
  if (left_s > 0) poll(nullptr, 0, static_cast<int>(1e3 * left_s));
}

StatusOr<DependencyResult> ReadOutcomes(PeerProcess& forum) {
  DependencyResult result;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string line, forum.ReadLine());
    if (line == "end") return result;
    std::istringstream words(line);
    DependencyOutcome one;
    if (!(words >> one.arrived_s >> one.response_s >> one.answered >> one.from_cache)) {
      return neptune::Unavailable("bbs_service: ", line);
    }
    one.quality = one.answered ? 1 : 0;
    result.outcomes.push_back(one);
  }
}

}  // namespace

StatusOr<DependencyResult> RunBbsProcesses(const BbsProcessesOptions& options) {
  Caches caches;
  for (int i = 0; i < kCacheCount; ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(auto cache, Redis::Start());
    caches.push_back(std::move(cache));
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto forum, StartForum(options, caches));
  forum->WriteLine("go");
  const double begin_s = MachineSeconds();
  if (options.hang) {
    WaitUntil(begin_s + options.hang->begin_s);
    caches[kHanging]->Signal(SIGSTOP);
    WaitUntil(begin_s + options.hang->end_s);
    caches[kHanging]->Signal(SIGCONT);
  }
  WaitUntil(begin_s + options.length_s);
  return ReadOutcomes(*forum);
}

}  // namespace search::lab
