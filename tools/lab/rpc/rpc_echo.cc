// Echo calls per second of the server's processor time, compared with gRPC and with the lower
// bound.

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/rpc/echo_peers.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr char kMetric[] = "calls_per_processor_s";

struct Cell {
  int connections;
  int in_flight;  // on each
  double grpc_line;
  double epoll_line;
};
constexpr Cell kCells[] = {{64, 1, 2.2, 0.75}, {1, 64, 10, 0.35}, {1, 1, 0, 0}};

Point PointOf(const Cell& cell, const std::string& peer) {
  return Point{}
      .Set("connections", StrCat(cell.connections))
      .Set("in flight on each", StrCat(cell.in_flight))
      .Set("peer", peer);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const Cell& cell : kCells) {
    if (length == Length::kSmoke && cell.grpc_line == 0) continue;
    for (const char* peer : {"neptune", "gRPC, queue", "gRPC, callbacks", "epoll"}) {
      points.push_back(PointOf(cell, peer));
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  std::vector<std::string> arguments = Times(context);
  arguments.push_back(StrCat("--connections=", point.Text("connections")));
  arguments.push_back(StrCat("--depth=", point.Text("in flight on each")));
  return MeasurePeers(EchoRun(point.Text("peer"), std::move(arguments)));
}

void JudgeCell(const Results& results, const Cell& cell, Judgement* judgement) {
  const Point ours = PointOf(cell, "neptune");
  const Point floor = PointOf(cell, "epoll");
  const Point grpc =
      BestOf(results, {PointOf(cell, "gRPC, queue"), PointOf(cell, "gRPC, callbacks")}, kMetric);
  const std::string load =
      StrCat(cell.connections, cell.connections == 1 ? " connection" : " connections", ", ",
             cell.in_flight, " in flight");
  const Estimate over_grpc = results.MedianRatio(ours, grpc, kMetric);
  const Estimate over_floor = results.MedianRatio(ours, floor, kMetric);
  const std::string against_grpc = StrCat("over ", grpc.Text("peer"), "; ", load);
  const std::string against_floor = StrCat("relative to bare epoll; ", load);
  if (cell.grpc_line > 0) {
    judgement->AtLeast(against_grpc, "", over_grpc, cell.grpc_line, "x");
    judgement->AtLeast(against_floor, "", over_floor, cell.epoll_line, "x");
    judgement->AtLeast(StrCat("serves more than gRPC; ", load), "", over_grpc, 1, "x").Shape();
  } else {
    judgement->Shown(against_grpc, "", over_grpc, "x");
    judgement->Shown(against_floor, "", over_floor, "x");
  }
  for (const Point& point : results.points()) {
    if (point == ours.With("peer", point.Text("peer"))) {
      judgement->Shown(StrCat(point.Text("peer"), "; ", load), "", results.Median(point, kMetric),
                       "calls/processor s");
    }
  }
}

void Judge(const Results& results, Judgement* judgement) {
  for (const Cell& cell : kCells) {
    if (results.Has(PointOf(cell, "neptune"))) JudgeCell(results, cell, judgement);
  }
  JudgeLost(results, judgement).Shape();
  judgement->Note(
      "gRPC is measured with both interfaces, and the better one at each load is "
      "compared.");
}

}  // namespace

Experiment RpcEcho() {
  Experiment experiment;
  experiment.name = "rpc_echo";
  experiment.title = "Echo calls per second of the server's processor time";
  experiment.source = "the peers, measured in the same run";
  experiment.setup =
      "A message of 64 bytes and a number, parsed and answered. Neptune: one node and one "
      "serving loop with all features on (deadline, cancellation, statistics, trace context with "
      "one in a hundred calls sampled). gRPC C++ as packaged by the system, with deadlines: one "
      "completion queue with one thread, and callbacks. Bare epoll: one thread and no features, "
      "parses the same message. Server and callers are processes on one processor each, with "
      "priority over other work on the machine where the system permits it, over loopback, in a "
      "closed loop. The figure is the number of calls divided by the server's user and system "
      "time.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 9};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
