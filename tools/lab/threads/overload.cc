// Overload: goodput, and the time until recovery.

#include <algorithm>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/sim_cluster.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::FromSeconds;
using neptune::StatusCode;
using neptune::StrCat;
using workload::Distribution;

constexpr int kServerCount = 4;
constexpr double kLoads[] = {0.5, 0.8, 1, 1.5, 2, 3, 4};
constexpr double kSpikeBase = 0.8;
constexpr double kSpikes[] = {1.4, 3};
constexpr char kGoodput[] = "goodput_of_capacity";
constexpr char kRefused[] = "refused_percent";
constexpr char kExpired[] = "expired_percent";
constexpr char kTail[] = "response_ms_p99";
constexpr char kBefore[] = "goodput_before";
constexpr char kRecovery[] = "recovery_ms";
constexpr char kAfter[] = "goodput_after";

// What refusing a call costs a server, measured by //tests/runtime:echo_benchmark
// (neptune/scheduling/README.md): if calls share a connection, and if each has its own.
constexpr double kRefusalUs = 1.1;
constexpr double kRefusalOfConnectionUs = 6.3;

// The cost of requests, and the timeout of their callers.
struct Handler {
  const char* name;
  Distribution service_ms;
  double timeout_ms;
  double refusal_us = kRefusalUs;
};

// 19 of 20 cost half of the mean, the others 10.5 times the mean.
const std::vector<Handler>& Handlers() {
  static const auto* const handlers = new std::vector<Handler>{
      {"exponential", Distribution::Exponential(5), 100},
      {"bimodal", Distribution::Choice({{2.5, 0.95}, {52.5, 0.05}}), 200},
      {"log-normal", Distribution::HeavyTail(5, 10, 200), 300},
      {"25 us", Distribution::Fixed(0.025), 5},
      {"25 us, a connection each", Distribution::Fixed(0.025), 5, kRefusalOfConnectionUs},
  };
  return *handlers;
}

const Handler& HandlerOf(const Point& point) {
  return *std::find_if(Handlers().begin(), Handlers().end(),
                       [&](const Handler& one) { return one.name == point.Text("handler"); });
}

Point LoadPoint(const std::string& handler, double load) {
  return Point{{"handler", handler}}.Set("load", load).Set("spike", 0);
}
Point SpikePoint(const std::string& handler, double spike) {
  return Point{{"handler", handler}}.Set("load", kSpikeBase).Set("spike", spike);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const Handler& handler : Handlers()) {
    const bool is_short = length == Length::kSmoke;
    if (is_short && handler.name != std::string("exponential")) continue;
    for (const double load : kLoads) {
      if (is_short && load != 0.8 && load != 1 && load != 2) continue;
      points.push_back(LoadPoint(handler.name, load));
    }
    for (const double spike : kSpikes) points.push_back(SpikePoint(handler.name, spike));
  }
  return points;
}

// The capacity of the servers in requests a second.
double CapacityOf(const Handler& handler) {
  return kServerCount * 1000 / handler.service_ms.mean();
}

// Seconds of virtual time to simulate; fewer for requests of 25 us, because there are many more.
double Seconds(const Handler& handler, double usual_s) {
  return handler.service_ms.mean() < 1 ? usual_s / 40 : usual_s;
}

bool IsGood(const SimOutcome& outcome) { return outcome.status == StatusCode::kOk; }

neptune::StatusOr<Measurement> RunSteady(const Point& point, const RunContext& context) {
  const Handler& handler = HandlerOf(point);
  SimCluster cluster(
      {.seed = context.seed, .server_count = kServerCount, .balancing = "probe_pool"});
  const double rate = point.Number("load") * CapacityOf(handler);
  const double seconds = Seconds(handler, context.Pick(3.0, 10.0, 40.0));
  SimLoadOptions load;
  load.gap_ms = Distribution::Exponential(1000 / rate);
  load.service_ms = handler.service_ms;
  load.warm_up_count = static_cast<uint64_t>(rate * seconds / 4);
  load.count = static_cast<uint64_t>(rate * seconds);
  load.timeout = FromSeconds(handler.timeout_ms / 1000);
  load.refusal_cost = FromSeconds(handler.refusal_us / 1e6);
  const SimLoadResult result = RunLoad(cluster, load, context.seed);
  double good_cost_ms = 0;
  double refused = 0;
  double expired = 0;
  for (const SimOutcome& one : result.outcomes) {
    if (IsGood(one)) good_cost_ms += neptune::ToMillis(one.cost);
    refused += one.status == StatusCode::kResourceExhausted;
    expired += one.status == StatusCode::kDeadlineExceeded;
  }
  const auto count = static_cast<double>(result.outcomes.size());
  double good = 0;
  for (const SimOutcome& one : result.outcomes) good += IsGood(one);
  return Measurement{{kGoodput, good / count * point.Number("load")},
                     {"good_work_of_capacity", good_cost_ms / (seconds * 1000 * kServerCount)},
                     {kRefused, 100 * refused / count},
                     {kExpired, 100 * expired / count},
                     {kTail, result.PercentileMs(0.99)}};
}

// Goodput in [begin, begin + length), relative to the capacity.
double GoodputIn(const SimLoadResult& result, const Handler& handler, Duration begin,
                 Duration length) {
  double good = 0;
  for (const SimOutcome& one : result.outcomes) {
    const Duration ended = one.arrived + one.response - result.began;
    good += IsGood(one) && ended >= begin && ended < begin + length;
  }
  return good / neptune::ToSeconds(length) / CapacityOf(handler);
}

neptune::StatusOr<Measurement> RunSpike(const Point& point, const RunContext& context) {
  const Handler& handler = HandlerOf(point);
  SimCluster cluster(
      {.seed = context.seed, .server_count = kServerCount, .balancing = "probe_pool"});
  const double unit = context.Pick(1.0, 2.0, 5.0);
  const auto phase = [&](double until_s, double load) {
    return LoadPhase{.until = FromSeconds(Seconds(handler, until_s)),
                     .gap_ms = Distribution::Exponential(1000 / (load * CapacityOf(handler))),
                     .service_ms = handler.service_ms};
  };
  SimLoadOptions load;
  load.phases = {phase(unit, kSpikeBase), phase(2 * unit, point.Number("spike")),
                 phase(3 * unit, kSpikeBase)};
  load.timeout = FromSeconds(handler.timeout_ms / 1000);
  load.refusal_cost = FromSeconds(handler.refusal_us / 1e6);
  load.stubborn_retry_count = 3;
  const SimLoadResult result = RunLoad(cluster, load, context.seed);
  // Random variation in a window is not a dip: each window has a few hundred requests.
  const Duration window = FromSeconds(Seconds(handler, 0.2));
  const Duration end = load.phases[1].until;
  const Duration step = window / 20;
  const double before =
      GoodputIn(result, handler, load.phases[0].until / 4, load.phases[0].until * 3 / 4);
  // The first window from which the goodput is at least 0.95 of the earlier one.
  Duration back = load.phases[2].until - end;
  for (Duration at{0}; at + window <= load.phases[2].until - end; at += step) {
    if (GoodputIn(result, handler, end + at, window) >= 0.95 * before) {
      back = at;
      break;
    }
  }
  const Duration rest = (load.phases[2].until - end) / 2;
  return Measurement{{kBefore, before},
                     {kRecovery, neptune::ToMillis(back)},
                     {kAfter, GoodputIn(result, handler, end + rest, rest) / before}};
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  return point.Number("spike") == 0 ? RunSteady(point, context) : RunSpike(point, context);
}

constexpr char kWhyRefusals[] =
    "refusing takes a share of the processor that grows with the load: (load - 1) times the cost "
    "of a "
    "refusal over that of a request";

void JudgeHandler(const Results& results, const std::string& handler, Judgement* judgement) {
  if (!results.Has(LoadPoint(handler, 2))) return;
  Point peak = LoadPoint(handler, 0.8);
  for (const double load : kLoads) {
    const Point point = LoadPoint(handler, load);
    if (!results.Has(point)) continue;
    if (results.Mean(point, kGoodput).middle > results.Mean(peak, kGoodput).middle) peak = point;
  }
  for (const double load : {2.0, 4.0}) {
    const Point point = LoadPoint(handler, load);
    if (!results.Has(point)) continue;
    auto& row =
        judgement->AtLeast(StrCat(handler, ": goodput at ", load, " x, relative to the peak"), "",
                           results.MeanRatio(point, peak, kGoodput), 0.95, "x");
    row.ShortOfLine(kWhyRefusals);
    if (load == 2) row.Shape();
    judgement->Shown(StrCat(handler, ": 99th percentile at that load"), "",
                     results.Mean(point, kTail), "ms");
  }
  judgement->AtMost(StrCat(handler, ": refused at 0.8 x"), "",
                    results.Mean(LoadPoint(handler, 0.8), kRefused), 0.1, "%");
  for (const double spike : kSpikes) {
    const Point point = SpikePoint(handler, spike);
    judgement->AtMost(
        StrCat(handler, ": time to recover after a spike of ", spike, " x with retries"), "",
        results.Mean(point, kRecovery), 100, "ms");
    judgement->AtLeast(StrCat(handler, ": goodput after recovery, relative to before"), "",
                       results.Mean(point, kAfter), 0.95, "x");
  }
}

plot::Plot Figure(const Results& results) {
  plot::Plot figure{.name = "goodput",
                    .title = "Requests answered in time, relative to the capacity",
                    .x = {.label = "demand, of capacity"},
                    .y = {.label = "goodput, of capacity", .low = 0}};
  for (const Handler& handler : Handlers()) {
    plot::Series series{.name = handler.name, .dots = {}};
    for (const double load : kLoads) {
      const Point point = LoadPoint(handler.name, load);
      if (!results.Has(point)) continue;
      const Estimate goodput = results.Mean(point, kGoodput);
      series.dots.push_back({load, goodput.middle, goodput.low, goodput.high});
    }
    if (!series.dots.empty()) figure.series.push_back(std::move(series));
  }
  return figure;
}

void Judge(const Results& results, Judgement* judgement) {
  for (const Handler& handler : Handlers()) JudgeHandler(results, handler.name, judgement);
  judgement->AddPlot(Figure(results));
}

}  // namespace

Experiment Overload() {
  Experiment experiment;
  experiment.name = "overload";
  experiment.title = "Admission under overload, and recovery from it";
  experiment.source = "bounds of this system";
  experiment.setup =
      "Four servers with one processor each, six clients, Poisson arrivals. Requests take 5 ms "
      "on average (exponential; bimodal, 19 of 20 take half of it; log-normal) or exactly 25 us; "
      "callers wait for 100, 200, 300 and 5 ms. Refusing a call costs its server 1.1 us of "
      "processor "
      "time, as measured on real sockets, or 6.3 us for 25 us requests that come with a connection "
      "each. A spike lasts as long as the periods before and "
      "after it at 0.8 of the capacity; during the spike and after it, clients without an answer "
      "retry at once, three times.";
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
