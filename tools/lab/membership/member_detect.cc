// How fast other nodes detect the failure of a node, and whether they ever suspect a live one.

#include <algorithm>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/membership/detection.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr double kSixPeriodsS = 6;
constexpr double kHungS = 2;

Point Of(const std::string& scenario, const std::string& world) {
  return Point{{"scenario", scenario}, {"world", world}};
}

// Processes take wall-clock time, so smoke runs leave them out. A full run saturates the processors
// for ten minutes in total.
std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const char* scenario : {"kill", "leave", "hang", "pause", "cut", "loss"}) {
    points.push_back(Of(scenario, "sim"));
  }
  if (length == Length::kSmoke) return points;
  for (const char* scenario : {"kill", "leave", "hang", "pause", "saturation"}) {
    points.push_back(Of(scenario, "real"));
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const bool real = point.Text("world") == "real";
  NEPTUNE_ASSIGN_OR_RETURN(const DetectionNotes notes,
                           real ? DetectInReal(point.Text("scenario"), context)
                                : DetectInSim(point.Text("scenario"), context));
  return FiguresOf(notes);
}

// The worst of all runs, so that a violation in one run breaks the line.
Estimate Worst(const Results& results, const Point& point, const std::string& metric) {
  double worst = 0;
  for (const double value : results.Values(point, metric)) {
    worst = value < 0 ? 1e9 : std::max(worst, value);
  }
  return Estimate::OfAll(worst, results.run_count());
}

class Judge {
 public:
  Judge(const Results& results, Judgement* judgement) : results_(results), judgement_(*judgement) {}

  void All() {
    CallsWereMade();
    for (const char* world : {"sim", "real"}) {
      Kill(world);
      Leave(world);
      Hang(world);
      Wrongly(world);
    }
    judgement_.Note(
        "Every figure is the worst of all runs. Views are sampled every 10 ms. Real processes "
        "share the machine with the lab; in the simulated world the cluster has the machine to "
        "itself. Lost datagrams and partitions need a network whose faults can be scripted, so "
        "they are tested in the simulated world only.");
  }

 private:
  // A bound on a metric of a scenario.
  struct Bound {
    std::string what;
    std::string scenario;
    std::string metric;
    double line = 0;
    std::string unit = "s";
    std::string paper{};
  };
  void AtMost(const std::string& world, const Bound& bound) {
    const Point point = Of(bound.scenario, world);
    if (!results_.Has(point)) return;
    Row& row = judgement_.AtMost(StrCat(world, ", ", bound.what), bound.paper,
                                 Worst(results_, point, bound.metric), bound.line, bound.unit);
    if (world == "sim") row.Shape();
  }

  // The rows above are meaningless without load.
  void CallsWereMade() {
    double least = 1e9;
    for (const Point& point : results_.points()) {
      for (const double calls : results_.Values(point, "calls")) least = std::min(least, calls);
    }
    judgement_.Holds("calls in the shortest run", "", NumberText(least), "> 500", least > 500)
        .Shape();
  }

  void Kill(const std::string& world) {
    AtMost(world, {"killed: out of every view after", "kill", "known_by_none_s", kSixPeriodsS, "s",
                   "5 s"});
    AtMost(world, {"killed: last affected call after", "kill", "callers_s",
                   neptune::ToSeconds(kDetectionDeadline)});
    AtMost(world, {"killed: views equal after", "kill", "views_equal_s", kSixPeriodsS});
    AtMost(world, {"healed partition: views equal after", "cut", "views_equal_s", kSixPeriodsS});
  }

  void Leave(const std::string& world) {
    AtMost(world, {"left: failed calls", "leave", "failed_calls", 0, ""});
    AtMost(world, {"left: no longer chosen by any caller after", "leave", "offered_by_none_s", 1});
  }

  void Hang(const std::string& world) {
    AtMost(world, {"hung workers: no longer chosen by any caller after", "hang",
                   "offered_by_none_s", kHungS});
    AtMost(world, {"hung process: last affected call after", "pause", "callers_s", kHungS});
    AtMost(world,
           {"hung process: out of every view after", "pause", "known_by_none_s", kSixPeriodsS});
  }

  void Wrongly(const std::string& world) {
    AtMost(world, {"30 % of datagrams lost: nodes expelled", "loss", "expelled", 0, ""});
    AtMost(world, {"processors saturated: nodes expelled", "saturation", "expelled", 0, ""});
  }

  const Results& results_;
  Judgement& judgement_;
};

}  // namespace

Experiment MemberDetect() {
  Experiment experiment;
  experiment.name = "member_detect";
  experiment.title = "Speed and accuracy of failure detection";
  experiment.source = "[Shen02] 2.4 (announcements each second, soft state of 5 s)";
  experiment.setup = StrCat(
      kDetectionServerCount, " servers of one partition and ", kDetectionCallerCount,
      " callers with ", kDetectionRate, " calls per second each, ",
      neptune::ToMillis(kDetectionCost), " ms of work and a deadline of ",
      neptune::ToMillis(kDetectionDeadline), " ms. After an undisturbed period server ",
      kDetectionVictim,
      " is killed, leaves, hangs (its workers, or the whole process), or half of all nodes are "
      "cut off for eight seconds, or 30 % of all datagrams are lost, or every processor gets two "
      "busy threads. A call is affected if it fails or is retried. In scenarios with a faulty "
      "server calls are balanced at random: callers that poll avoid it at once and would show "
      "nothing. In the real world each node is a process.");
  experiment.worlds = {WorldKind::kReal};  // each point names its own
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  // Smoke runs are simulated.
  experiment.recorded_points = [] { return Points(Length::kSmoke); };
  experiment.run = Run;
  experiment.judge = [](const Results& results, Judgement* judgement) {
    Judge(results, judgement).All();
  };
  return experiment;
}

}  // namespace search::lab
