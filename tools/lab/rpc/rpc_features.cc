// The cost of deadlines, cancellation, statistics and traces per call.

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/rpc/echo_peers.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr char kMetric[] = "calls_per_processor_s";
constexpr char kOn[] = "neptune";
constexpr char kOff[] = "neptune, features off";

Point PointOf(int connections, const std::string& peer) {
  return Point{}.Set("connections", StrCat(connections)).Set("peer", peer);
}

std::vector<Point> Points(Length) {
  std::vector<Point> points;
  for (const int connections : {64, 1}) {
    for (const char* peer : {kOn, kOff}) points.push_back(PointOf(connections, peer));
  }
  return points;
}

// 64 calls in flight in total.
neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  std::vector<std::string> arguments = Times(context);
  arguments.push_back(StrCat("--connections=", point.Text("connections")));
  arguments.push_back(StrCat("--depth=", 64 / static_cast<int>(point.Number("connections"))));
  return MeasurePeers(EchoRun(point.Text("peer"), std::move(arguments)));
}

void Judge(const Results& results, Judgement* judgement) {
  for (const int connections : {64, 1}) {
    const std::string load =
        connections == 1 ? "1 connection, 64 in flight" : "64 connections, 1 in flight";
    const Estimate ratio =
        results.MedianRatio(PointOf(connections, kOn), PointOf(connections, kOff), kMetric);
    judgement->AtLeast(StrCat("features on relative to off; ", load), "", ratio, 0.90, "x");
    judgement->AtLeast(StrCat("more than half remains; ", load), "", ratio, 0.5, "x").Shape();
    for (const char* peer : {kOn, kOff}) {
      judgement->Shown(StrCat(peer, "; ", load), "",
                       results.Median(PointOf(connections, peer), kMetric), "calls/processor s");
    }
  }
  JudgeLost(results, judgement).Shape();
}

}  // namespace

Experiment RpcFeatures() {
  Experiment experiment;
  experiment.name = "rpc_features";
  experiment.title = "Cost of a call's features";
  experiment.source = "bounds of this system";
  experiment.setup =
      "The echo of rpc_echo. On: each request has a deadline and a trace context, one in a "
      "hundred is sampled, and the node counts and times its method. Off: none of these. 64 "
      "calls are in flight, on 64 connections or on one.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 7, .full = 15};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
