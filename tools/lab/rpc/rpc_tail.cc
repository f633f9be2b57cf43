// The effect of a few slow handlers on the other calls.

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/rpc/echo_peers.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr char kMetric[] = "p99_us";
constexpr char kPeers[][16] = {"neptune", "gRPC, queue", "gRPC, callbacks"};

// Half of the rate that one processor serves. Busy: calls of which one in a hundred takes 5 ms of
// it, the same rate for all peers, because that is most of the work. Blocked: echo calls, with a
// rate for each peer.
double RateOf(const std::string& slow_method, const std::string& peer) {
  if (slow_method == "Busy") return 8'000;
  return peer == "neptune" ? 30'000 : 8'000;
}

Point PointOf(const std::string& peer, const std::string& slow_method, double slow_percent) {
  return Point{}
      .Set("peer", peer)
      .Set("slow handlers", slow_method)
      .Set("percent", slow_percent)
      .Set("calls a second", RateOf(slow_method, peer));
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const char* peer : kPeers) {
    if (length == Length::kSmoke && peer != std::string("neptune")) continue;
    for (const char* slow_method : {"Busy", "Blocked"}) {
      for (const double percent : {0.0, 1.0}) {
        points.push_back(PointOf(peer, slow_method, percent));
      }
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  std::vector<std::string> arguments = Times(context);
  arguments.push_back("--connections=64");
  arguments.push_back(StrCat("--seed=", context.seed));
  arguments.push_back(StrCat("--rate=", point.Text("calls a second")));
  arguments.push_back(StrCat("--slow_method=", point.Text("slow handlers")));
  arguments.push_back(StrCat("--slow_share=", point.Number("percent") / 100));
  return MeasurePeers(EchoRun(point.Text("peer"), std::move(arguments)));
}

void JudgePeer(const Results& results, const std::string& peer, Judgement* judgement) {
  for (const std::string slow_method : {"Busy", "Blocked"}) {
    const Point with = PointOf(peer, slow_method, 1);
    const Point without = PointOf(peer, slow_method, 0);
    const Estimate ratio = results.MedianRatio(with, without, kMetric);
    const std::string what =
        StrCat(peer, ": p99 of the other calls, 1 % ", slow_method, " over none");
    if (peer == "neptune") {
      judgement->AtMost(what, "", ratio, 1.5, "x");
    } else {
      judgement->Shown(what, "", ratio, "x");
    }
    judgement->Shown(StrCat(peer, ": p99 without slow handlers, rate of ", slow_method), "",
                     results.Median(without, kMetric), "us");
    judgement->Shown(StrCat(peer, ": p99 of the other calls, 1 % ", slow_method), "",
                     results.Median(with, kMetric), "us");
  }
}

void Judge(const Results& results, Judgement* judgement) {
  for (const char* peer : kPeers) {
    if (results.Has(PointOf(peer, "Busy", 0))) JudgePeer(results, peer, judgement);
  }
  // Other work of the machine may starve the long methods until their queue refuses calls, so this
  // is not a row of shape.
  JudgeLost(results, judgement);
  bool answered = true;
  for (const Point& point : results.points()) answered &= results.Median(point, kMetric).middle > 0;
  judgement
      ->Holds("calls are answered in every setting", "", answered ? "yes" : "no", "yes", answered)
      .Shape();
  judgement->Note(
      "The percentiles exclude slow calls. Latency counts from the time at which a call was due, "
      "so that a stalled server is charged for the calls that it delayed.");
}

}  // namespace

Experiment RpcTail() {
  Experiment experiment;
  experiment.name = "rpc_tail";
  experiment.title = "Tail latency of other calls while one handler in a hundred is slow";
  experiment.source = "bounds of this system";
  experiment.setup =
      "Open loop at half of the server's capacity over 64 connections; for one call in a hundred "
      "the handler computes, or blocks, for 5 ms. Neptune declares these methods long; gRPC's "
      "handlers are ordinary ones. All threads of a server share one processor, with priority "
      "over other work on the machine where the system permits it (real-time priority; a loop of "
      "long methods has the next lower one).";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 9};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
