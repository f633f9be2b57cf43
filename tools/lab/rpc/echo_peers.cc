#include "tools/lab/rpc/echo_peers.h"

#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "neptune/base/strings.h"

namespace search::lab {
namespace {

using neptune::StrCat;

// Separates the nodes of this run from those of other runs on this machine.
std::vector<std::string> OwnCluster() {
  static std::atomic<int> run_count{0};
  const int run = ++run_count;
  constexpr int kFirstPort = 20'000;
  constexpr int kPortCount = 20'000;
  return {StrCat("--cluster=echo-", getpid(), "-", run),
          StrCat("--multicast_port=", kFirstPort + (getpid() * 31 + run) % kPortCount)};
}

void Append(const std::vector<std::string>& more, std::vector<std::string>* to) {
  to->insert(to->end(), more.begin(), more.end());
}

}  // namespace

PeerRun EchoRun(const std::string& peer, std::vector<std::string> caller_arguments) {
  PeerRun run;
  run.caller_arguments = std::move(caller_arguments);
  if (peer == "neptune" || peer == "neptune, features off") {
    const std::vector<std::string> cluster = OwnCluster();
    run.server = run.caller = "neptune_echo";
    const std::string features = StrCat("--features=", peer == "neptune" ? "true" : "false");
    Append(cluster, &run.server_arguments);
    Append({features}, &run.server_arguments);
    Append(cluster, &run.caller_arguments);
    Append({features}, &run.caller_arguments);
  } else if (peer == "epoll") {
    run.server = run.caller = "epoll_echo";
  } else if (peer == "tcp") {
    run.server = run.caller = "tcp_ping";
  } else {
    CHECK(peer == "gRPC, queue" || peer == "gRPC, callbacks") << peer;
    run.server = run.caller = "grpc_echo";
    run.server_arguments = {peer == "gRPC, queue" ? "--api=queue" : "--api=callback"};
  }
  return run;
}

std::vector<std::string> Times(const RunContext& context) {
  return {StrCat("--warm_up_ms=", context.Pick(50, 200, 500)),
          StrCat("--steady_ms=", context.Pick(150, 500, 1500))};
}

neptune::StatusOr<Measurement> MeasurePeers(const PeerRun& run) {
  NEPTUNE_ASSIGN_OR_RETURN(const PeerLoad load, RunPeers(run));
  return Measurement{{"calls_per_processor_s", load.call_count / load.server_processor_s},
                     {"p10_us", load.p10_us},
                     {"p50_us", load.p50_us},
                     {"p99_us", load.p99_us},
                     {"lost", load.lost_count}};
}

Row& JudgeLost(const Results& results, Judgement* judgement) {
  double lost = 0;
  for (const Point& point : results.points()) {
    for (const double value : results.Values(point, "lost")) lost += value;
  }
  return judgement->Holds("wrong or missing answers", "", NumberText(lost), "none", lost == 0);
}

Point BestOf(const Results& results, const std::vector<Point>& points, const std::string& metric) {
  return *std::max_element(points.begin(), points.end(), [&](const Point& a, const Point& b) {
    return results.Median(a, metric).middle < results.Median(b, metric).middle;
  });
}

}  // namespace search::lab
