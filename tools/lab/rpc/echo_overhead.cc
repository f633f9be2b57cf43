// The overhead of a service call compared with a round trip of the transport.

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/rpc/echo_peers.h"

namespace search::lab {
namespace {

using neptune::StrCat;

// Round trips undisturbed by other work of the machine. Medians are shown in addition.
constexpr char kMetric[] = "p10_us";
constexpr char kMedian[] = "p50_us";

Point PointOf(const std::string& connection, const std::string& peer) {
  return Point{}.Set("connection", connection).Set("peer", peer);
}

std::vector<Point> Points(Length) {
  std::vector<Point> points;
  for (const char* connection : {"kept", "fresh"}) {
    for (const char* peer : {"neptune", "tcp"}) points.push_back(PointOf(connection, peer));
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  std::vector<std::string> arguments = Times(context);
  if (point.Text("connection") == "fresh") arguments.push_back("--fresh");
  PeerRun run = EchoRun(point.Text("peer"), std::move(arguments));
  run.caller_command = "ping";
  return MeasurePeers(run);
}

void JudgeConnection(const Results& results, const std::string& connection, double line,
                     const std::string& paper, Judgement* judgement) {
  const Point ours = PointOf(connection, "neptune");
  const Point tcp = PointOf(connection, "tcp");
  const Estimate ratio = results.MedianRatio(ours, tcp, kMetric);
  judgement->AtMost(StrCat("round trip relative to raw TCP, ", connection, " connection"), paper,
                    ratio, line, "x");
  judgement->Shown(StrCat("service call, ", connection, " connection"),
                   connection == "fresh" ? "1,128 us" : "", results.Median(ours, kMetric), "us");
  judgement->Shown(StrCat("raw TCP, ", connection, " connection"),
                   connection == "fresh" ? "1,031 us" : "", results.Median(tcp, kMetric), "us");
  judgement->Shown(StrCat("median relative to raw TCP, ", connection, " connection"), "",
                   results.MedianRatio(ours, tcp, kMedian), "x");
}

void Judge(const Results& results, Judgement* judgement) {
  JudgeConnection(results, "kept", 1.5, "", judgement);
  JudgeConnection(results, "fresh", 1.09, "1.094", judgement);
  JudgeLost(results, judgement).Shape();
}

}  // namespace

Experiment EchoOverhead() {
  Experiment experiment;
  experiment.name = "echo_overhead";
  experiment.title = "Overhead of a service call compared with a TCP round trip";
  experiment.source =
      "[Shen02] 2.4: 97 us more than 1,031 us, one connection per call, without polling";
  experiment.setup =
      "One call at a time from a module's user-level thread to a node in another process, over "
      "loopback, with 64 bytes in a message; there is one replica, so nothing is polled. Raw "
      "TCP: blocking sockets, 128 bytes in each direction. Fresh: one connection per call, "
      "including closing it. Each side has its own processor, with priority over other work on "
      "the machine where the system permits it. The tenth percentiles of the runs are compared, "
      "because other work on the machine disturbs them least.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 7, .full = 15};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
