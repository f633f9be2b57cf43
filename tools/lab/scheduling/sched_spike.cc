// A demand spike of one class, and the failure of a server: the shares of all classes.

#include <algorithm>
#include <cmath>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/scheduling/class_workload.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::StrCat;
using neptune::ToSeconds;

constexpr int kServerCount = 16;
constexpr double kGuarantee = 0.2;
constexpr size_t kGold = 0;
constexpr size_t kSilver = 1;
constexpr size_t kBronze = 2;
constexpr const char* kSchemes[] = {"adaptive", "waiting_cost", "partitioned"};
// Seconds on the load's clock.
constexpr int kLength = 300;
constexpr int kTick = 1;
constexpr int kWindow = 2;
constexpr int kSpikeBegin = 50;
constexpr int kSpikeEnd = 150;
constexpr int kFailure = 200;
constexpr int kRecovery = 250;
// A class that consumed much is held back until the decayed sums of the nodes forget it; Bronze's
// share falls from 60 to 20 % in 21 s.
constexpr int kSettleTime = 25;
// A restarted server has not consumed anything yet, so that it has no shares.
constexpr int kStartTime = 20;
// The first server of Gold if servers are divided.
constexpr char kFailing[] = "s0";

std::string AtMetric(const std::string& what, size_t service_class, int second) {
  return StrCat(kClassNames[service_class], "_", what, "_", second, "s");
}

// Reads at each tick the servers' consumption for each class since the last tick.
class ConsumptionLog {
 public:
  explicit ConsumptionLog(Measurement* measurement) : measurement_(*measurement) {}

  void Read(Duration at, SimCluster& cluster) {
    const auto second = static_cast<int>(ToSeconds(at));
    double sums[kClassCount] = {};
    double smallest[kClassCount] = {1, 1, 1};
    for (int i = 0; i < cluster.server_count(); ++i) {
      if (!cluster.is_up(i)) {
        restarted_at_[i] = second + kTick;
        continue;
      }
      const bool counts = second >= restarted_at_[i] + kStartTime;
      for (size_t k = 0; k < kClassCount; ++k) {
        sums[k] += Consumed(cluster.server(i), i, k);
        const double share = Of(cluster.server(i), "neptune_class_share", k);
        if (counts) smallest[k] = std::min(smallest[k], share);
      }
    }
    for (size_t k = 0; k < kClassCount; ++k) {
      measurement_[AtMetric("consumed", k, second)] = sums[k];
      measurement_[AtMetric("smallest_share", k, second)] = smallest[k];
    }
  }

 private:
  static double Of(neptune::Node& node, const std::string& metric, size_t service_class) {
    const auto value =
        node.metrics().Value(metric, {{"service", "work"}, {"class", kClassNames[service_class]}});
    return value.ok() ? *value : 0;
  }
  double Consumed(neptune::Node& node, int number, size_t service_class) {
    const double now = Of(node, "neptune_class_processor_seconds_total", service_class);
    double& last = last_[number][service_class];
    const double more = now < last ? now : now - last;
    last = now;
    return more;
  }

  Measurement& measurement_;
  double last_[kServerCount][kClassCount] = {};
  int restarted_at_[kServerCount] = {};
};

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  Measurement measurement;
  ConsumptionLog log(&measurement);
  ClassRun run;
  const std::string& scheme = point.Text("scheme");
  run.is_partitioned = scheme == "partitioned";
  run.policy = run.is_partitioned ? "adaptive" : scheme;
  run.guarantee = kGuarantee;
  run.server_count = kServerCount;
  run.is_constant = true;
  run.surges = {{.service_class = kSilver,
                 .begin = std::chrono::seconds(kSpikeBegin),
                 .end = std::chrono::seconds(kSpikeEnd),
                 .factor = 80.0 / 30}};
  NEPTUNE_ASSIGN_OR_RETURN(
      run.script, workload::ParseScript(StrCat(kFailure, "s crash ", kFailing, "; ", kRecovery,
                                               "s restart ", kFailing)));
  run.warm_up = Duration(0);
  run.length = std::chrono::seconds(kLength);
  run.tick = std::chrono::seconds(kTick);
  run.on_tick = [&log](Duration at, SimCluster& cluster) { log.Read(at, cluster); };
  // All classes have the same cost.
  const double service_s = ServiceMeanOf(run.workload, kGold) / 1000;
  for (const ClassOutcome& outcome : RunClasses(run, context.seed)) {
    const int second = static_cast<int>(ToSeconds(outcome.arrived)) / kTick * kTick + kTick;
    measurement[AtMetric("demanded", outcome.service_class, second)] += service_s;
    measurement["offered_yield"] += FullYieldOf(outcome.service_class);
    measurement["realized_yield"] += outcome.yield;
  }
  return measurement;
}

Point PointOf(const std::string& scheme) { return Point{{"scheme", scheme}}; }

// On the load's clock: after `first`, until `second`.
using Span = std::pair<int, int>;

// The results of the run of a seed.
struct OneRun {
  const Measurement& measured;

  double SumOf(const std::string& what, size_t k, Span span) const {
    double sum = 0;
    for (int second = span.first + kTick; second <= span.second; second += kTick) {
      const auto found = measured.find(AtMetric(what, k, second));
      if (found != measured.end()) sum += found->second;
    }
    return sum;
  }
  // Share of the consumption of all classes.
  double ShareOf(size_t k, Span span) const {
    double all = 0;
    for (size_t each = 0; each < kClassCount; ++each) all += SumOf("consumed", each, span);
    return SumOf("consumed", k, span) / all;
  }
  double ConsumedOfDemand(size_t k, Span span) const {
    return SumOf("consumed", k, span) / SumOf("demanded", k, span);
  }
};

template <typename Figure>
double MeanOver(const Results& results, const Point& point, const Figure& figure) {
  double sum = 0;
  for (const Measurement& measured : results.Of(point)) sum += figure(OneRun{measured});
  return sum / static_cast<double>(results.Of(point).size());
}

double ConsumedOfDemand(const Results& results, const Point& point, size_t k, Span span) {
  return MeanOver(results, point, [&](const OneRun& run) { return run.ConsumedOfDemand(k, span); });
}

// The smallest share of a class whose demand exceeds its guarantee, over all windows of that length
// of all runs.
double SmallestShare(const Results& results, const Point& point, int window, Span span) {
  double smallest = 1;
  for (const Measurement& measured : results.Of(point)) {
    for (int begin = span.first; begin + window <= span.second; begin += kTick) {
      for (const size_t k : {kSilver, kBronze}) {
        smallest = std::min(smallest, OneRun{measured}.ShareOf(k, {begin, begin + window}));
      }
    }
  }
  return smallest;
}

double SmallestDecayedShare(const Results& results, const Point& point) {
  double smallest = 1;
  for (int second = kStartTime; second <= kLength; second += kTick) {
    for (const size_t k : {kSilver, kBronze}) {
      const std::vector<double> shares =
          results.Values(point, AtMetric("smallest_share", k, second));
      smallest = std::min(smallest, *std::min_element(shares.begin(), shares.end()));
    }
  }
  return smallest;
}

// The time from the begin of the spike to the begin of the last ten-second window in which Bronze
// is more than two points below its guarantee, over all runs.
double TimeToGuarantee(const Results& results, const Point& point) {
  int last = kSpikeBegin;
  for (const Measurement& measured : results.Of(point)) {
    for (int begin = kSpikeBegin; begin + 10 <= kSpikeEnd; begin += kTick) {
      if (OneRun{measured}.ShareOf(kBronze, {begin, begin + 10}) < kGuarantee - 0.02) {
        last = std::max(last, begin + kTick);
      }
    }
  }
  return last - kSpikeBegin;
}

// The largest difference of Gold's consumption from its demand, over all windows of that length of
// the spike in all runs.
double GoldOff(const Results& results, const Point& point, int window) {
  double furthest = 0;
  for (const Measurement& measured : results.Of(point)) {
    for (int begin = kSpikeBegin; begin + window <= kSpikeEnd; begin += kTick) {
      const double ratio = OneRun{measured}.ConsumedOfDemand(kGold, {begin, begin + window});
      furthest = std::max(furthest, std::abs(ratio - 1));
    }
  }
  return furthest;
}

// A figure over all runs together.
Estimate Percent(const Results& results, double share) {
  return Estimate::OfAll(100 * share, results.run_count());
}

void ShowGoldAfterFailure(const Results& results, const std::string& scheme, Judgement* judgement) {
  const Point point = PointOf(scheme);
  for (const int begin : {kFailure, kFailure + 10, kFailure + 20}) {
    judgement->Shown(
        StrCat("Gold's consumption relative to its demand, ", begin, " to ", begin + 10, " s, ",
               scheme),
        scheme == "partitioned" && begin == kFailure ? "a deep drop for about 10 s" : "",
        Percent(results, ConsumedOfDemand(results, point, kGold, {begin, begin + 10})), "%");
  }
}

plot::Plot Draw(const Results& results, const std::string& scheme) {
  plot::Plot figure{.name = StrCat("spike_", scheme),
                    .title = StrCat("Consumption by class, ", scheme),
                    .x = {.label = "time, s"},
                    .y = {.label = "% of 16 servers", .low = 0},
                    .levels = {{"guarantee", 100 * kGuarantee}},
                    .marks = {{"Silver demands 80 %", kSpikeBegin},
                              {"demands 30 %", kSpikeEnd},
                              {"a server fails", kFailure},
                              {"it restarts", kRecovery}}};
  constexpr double kWhole = kServerCount * kClassProcessors * kWindow;
  for (const std::string what : {"consumed", "demanded"}) {
    for (size_t k = 0; k < kClassCount; ++k) {
      plot::Series series{.name = StrCat(kClassNames[k], " ", what),
                          .dots = {},
                          .style = plot::Series::Style::kLines};
      for (int second = kWindow; second <= kLength; second += kWindow) {
        const double sum = MeanOver(results, PointOf(scheme), [&](const OneRun& run) {
          return run.SumOf(what, k, {second - kWindow, second});
        });
        series.dots.push_back({second - kWindow / 2.0, 100 * sum / kWhole});
      }
      figure.series.push_back(std::move(series));
    }
  }
  return figure;
}

void Judge(const Results& results, Judgement* judgement) {
  const Point adaptive = PointOf("adaptive");
  const Span spike = {kSpikeBegin, kSpikeEnd};
  const Span settled = {kSpikeBegin + kSettleTime, kSpikeEnd};
  judgement
      ->AtLeast("adaptive: smallest decayed share of Silver or Bronze on any server, 20 to 300 s",
                "about 20 %", Percent(results, SmallestDecayedShare(results, adaptive)),
                100 * kGuarantee - 1, "%")
      .Shape();
  judgement
      ->AtLeast("adaptive: smallest share of Silver or Bronze in 10 s, 75 to 150 s", "about 20 %",
                Percent(results, SmallestShare(results, adaptive, 10, settled)),
                100 * kGuarantee - 2, "%")
      .ShortOfLine(
          "a server becomes greedy only when 5 % of the requests of 30 s were dropped, about 5 s "
          "after the start of the spike, and only then the 21 s begin in which Bronze's decayed "
          "share decreases from 60 to 20 %");
  judgement->Shown(
      "adaptive: time after the start of the spike from which 10 s means of Bronze stay at 18 %",
      "", Estimate::OfAll(TimeToGuarantee(results, adaptive), results.run_count()), "s");
  const Point ours = PointOf("waiting_cost");
  judgement->AtLeast("waiting_cost: smallest share of Silver or Bronze in 2 s, 50 to 150 s", "",
                     Percent(results, SmallestShare(results, ours, kWindow, spike)),
                     90 * kGuarantee, "%");
  for (const std::string scheme : kSchemes) {
    const Point point = PointOf(scheme);
    if (!results.Has(point)) continue;
    const Estimate off = Percent(results, GoldOff(results, point, kSpikeEnd - kSpikeBegin));
    const std::string what = StrCat(scheme,
                                    ": deviation of Gold's consumption from its demand, "
                                    "50 to 150 s");
    if (scheme == "partitioned") {
      judgement->Shown(what, "untouched", off, "%");
    } else {
      judgement->AtMost(what, "untouched", off, 2, "%");
    }
    judgement->Shown(StrCat(what, ", largest in any 10 s, which are 129 requests"), "",
                     Percent(results, GoldOff(results, point, 10)), "%");
    ShowGoldAfterFailure(results, scheme, judgement);
    judgement->Shown(StrCat(scheme, ": Silver's consumption relative to its demand, 50 to 60 s"),
                     "", Percent(results, ConsumedOfDemand(results, point, kSilver, {50, 60})),
                     "%");
    judgement->Shown(StrCat(scheme, ": share of the offered yield"), "",
                     Percent(results, results.Mean(point, "realized_yield").middle /
                                          results.Mean(point, "offered_yield").middle),
                     "%");
    judgement->AddPlot(Draw(results, scheme));
  }
}

}  // namespace

Experiment SchedSpike() {
  Experiment experiment;
  experiment.name = "sched_spike";
  experiment.title = "A demand spike and a server failure";
  experiment.source = "[Shen02] 4.5.4, figure 4.12";
  experiment.setup =
      "16 servers, Differentiated Search with fixed interarrival and service times, hybrid "
      "yields, 20 % guaranteed to each class. The demand equals the capacity of the processors: "
      "Gold 10, Silver 30, Bronze 60 %; from 50 to 150 s Silver demands 80 %. A server fails at "
      "200 s and restarts at 250 s; where servers are divided it is the only one dedicated to "
      "Gold. Consumption is what servers account to each class, sampled every second; a share is "
      "relative to the consumption of all classes. The decayed shares of a restarted server "
      "count from 20 s after its restart.";
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = [](Length length) {
    std::vector<Point> points;
    for (const std::string scheme : kSchemes) {
      // Not judged in a smoke run, which has five seconds.
      if (length != Length::kSmoke || scheme != "partitioned") points.push_back(PointOf(scheme));
    }
    return points;
  };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
