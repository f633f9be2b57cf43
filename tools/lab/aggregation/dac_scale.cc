// How throughput and response time grow with the number of servers.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <semaphore>

#include "neptune/base/strings.h"
#include "tools/lab/aggregation/aggregation_run.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/rate_sweep.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr double kProcessors = 2;
constexpr char kQuality[] = "quality_of_ideal_percent";
constexpr char kResponse[] = "response_ms_mean";
constexpr char kLoad[] = "load";

// Demand levels of the paper; the higher ones find the maximum throughput.
constexpr double kDemands[] = {0.5, 0.6, 0.7, 0.8, 0.9};
constexpr double kMost[] = {1.0, 1.1};

// The maximum number of servers of an aggregation. Fewer demand levels and calls, and one run at a
// time, because every node knows every other, which takes 18 GB.
constexpr int kManyServers = 4096;
constexpr double kManyDemands[] = {0.5, 0.9, 1.0};
constexpr double kManyCalls = 125;
// What 4,096 servers may take longer than the line through the smaller clusters says.
constexpr double kManyMargin = 0.10;

std::vector<int> ServerCounts(Length length) {
  if (length == Length::kSmoke) return {4, 16};
  if (length == Length::kQuick) return {4, 8, 16, 32, 64};
  return {4, 8, 16, 32, 64, 128, 256, 512, kManyServers};
}

std::vector<double> Demands(Length length, int servers) {
  if (length == Length::kSmoke) return {kDemands[0], kMost[0]};
  if (servers == kManyServers) return {std::begin(kManyDemands), std::end(kManyDemands)};
  std::vector<double> demands(std::begin(kDemands), std::end(kDemands));
  demands.insert(demands.end(), std::begin(kMost),
                 length == Length::kFull ? std::end(kMost) : std::begin(kMost) + 1);
  return demands;
}

Point PointOf(int servers, double load) { return Point{}.Set("servers", servers).Set(kLoad, load); }

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const int servers : ServerCounts(length)) {
    for (const double load : Demands(length, servers)) points.push_back(PointOf(servers, load));
  }
  return points;
}

// Only one thread at a time has one.
class Turn {
 public:
  Turn() { Free().acquire(); }
  ~Turn() { Free().release(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  static std::binary_semaphore& Free() {
    static std::binary_semaphore free(1);
    return free;
  }
};

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  AggregationClusterOptions cluster;
  cluster.server_count = static_cast<int>(point.Number("servers"));
  AggregationLoadOptions load;
  const double ideal = load.profile.IdealRate(cluster.server_count, kProcessors);
  load.rate_per_s = point.Number(kLoad) * ideal;
  double count = context.Pick<double>(60, 250, 1000);
  std::optional<Turn> turn;
  if (cluster.server_count == kManyServers) {
    turn.emplace();
    count = kManyCalls;
    // Announcements of n servers cost n^2.
    cluster.announce_interval_ms *= kManyServers / 512;
  }
  load.warm_up = neptune::FromSeconds(0.25 * count / load.rate_per_s);
  load.duration = neptune::FromSeconds(count / load.rate_per_s);
  Measurement measured = MeasureAggregations(cluster, load, context.seed);
  measured[kQuality] = 100 * measured["quality_per_s"] / ideal;
  return measured;
}

// Fits y = a + b log2 n by least squares; also returns the explained share of the variance.
struct Fit {
  double a = 0;
  double b = 0;
  double r_squared = 0;
};

Fit FitLogarithm(const std::vector<plot::Dot>& dots) {
  const double count = static_cast<double>(dots.size());
  double x_mean = 0;
  double y_mean = 0;
  for (const plot::Dot& dot : dots) {
    x_mean += std::log2(dot.x) / count;
    y_mean += dot.y / count;
  }
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const plot::Dot& dot : dots) {
    const double x = std::log2(dot.x) - x_mean;
    const double y = dot.y - y_mean;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  const double b = xy / xx;
  return {y_mean - b * x_mean, b, xy * xy / (xx * yy)};
}

plot::Series ByServers(const Results& results, double load, const std::string& metric) {
  plot::Series series{.name = StrCat(ShortText(100 * load), " %"), .dots = {}};
  for (const int servers : ServerCounts(results.length())) {
    const std::vector<double> demands = Demands(results.length(), servers);
    if (std::find(demands.begin(), demands.end(), load) == demands.end()) continue;
    const Estimate mean = results.Mean(PointOf(servers, load), metric);
    series.dots.push_back({static_cast<double>(servers), mean.middle, mean.low, mean.high});
  }
  return series;
}

// The series without the largest cluster, and the response time that its logarithm predicts there.
double PredictedForMany(plot::Series series) {
  std::erase_if(series.dots, [](const plot::Dot& dot) { return dot.x == kManyServers; });
  const Fit fit = FitLogarithm(series.dots);
  return fit.a + fit.b * std::log2(kManyServers);
}

// 4,096 servers at the two demands that they are run at: full quality, and no slower than the
// logarithm of the clusters up to 512 says.
void JudgeMany(const Results& results, Judgement* judgement) {
  for (const double load : {0.5, 0.9}) {
    const Point point = PointOf(kManyServers, load);
    if (!results.Has(point)) continue;
    const std::string where = StrCat(", ", kManyServers, " servers at ", 100 * load, " %");
    judgement->AtLeast("quality-aware throughput relative to demand" + where, "close to ideal",
                       Scaled(results.Mean(point, kQuality), 1 / load), 95, "%");
    judgement->NotAbove("response time relative to a + b log n of the smaller" + where,
                        "logarithmic", results.Jackknife([&](const Results& some) {
                          return some.Mean(point, kResponse).middle /
                                 PredictedForMany(ByServers(some, load, kResponse));
                        }),
                        1, kManyMargin, "x");
  }
}

plot::Series MostByServers(const Results& results, Judgement* judgement) {
  plot::Series series{.name = "quality-aware throughput", .dots = {}};
  for (const int servers : ServerCounts(results.length())) {
    const Estimate best = RateSweep(results, PointOf(servers, 0), kLoad).Best(kQuality);
    judgement->AtLeast(
        StrCat(servers, " servers, quality-aware throughput relative to nk/(ns+(n-1)r)"),
        "close to ideal", best, 95, "%");
    series.dots.push_back({static_cast<double>(servers), best.middle, best.low, best.high});
  }
  return series;
}

void Judge(const Results& results, Judgement* judgement) {
  const bool smoke = results.length() == Length::kSmoke;
  plot::Plot throughput{.name = "throughput",
                        .title = "Highest quality-aware throughput relative to the ideal",
                        .x = {.label = "servers", .logarithmic = true},
                        .y = {.label = "%", .low = 80, .high = 105}};
  throughput.series.push_back(MostByServers(results, judgement));
  JudgeMany(results, judgement);
  throughput.levels.push_back({"line", 95});
  judgement->AddPlot(std::move(throughput));
  plot::Plot response{.name = "response",
                      .title = "Mean response time by demand",
                      .x = {.label = "servers", .logarithmic = true},
                      .y = {.label = "ms", .low = 0}};
  for (const double load : kDemands) {
    if (smoke && load != 0.5) continue;
    plot::Series series = ByServers(results, load, kResponse);
    const Fit fit = FitLogarithm(series.dots);
    judgement
        ->Holds(StrCat("response time at ", series.name, " grows with the number of servers"), "",
                StrCat(ShortText(std::round(fit.a)), " + ", ShortText(std::round(10 * fit.b) / 10),
                       " log2 n ms"),
                "b > 0", fit.b > 0)
        .Shape();
    if (!smoke) {
      judgement->AtLeast(StrCat("R^2 of a + b log n, ", series.name), "logarithmic",
                         results.Jackknife([&](const Results& some) {
                           return FitLogarithm(ByServers(some, load, kResponse).dots).r_squared;
                         }),
                         0.98);
    }
    response.series.push_back(std::move(series));
  }
  judgement->AddPlot(std::move(response));
}

}  // namespace

Experiment DacScale() {
  Experiment experiment;
  experiment.name = "dac_scale";
  experiment.title = "Scalability of aggregation with the number of servers";
  experiment.source = "[Chu03] 5.6, figure 22";
  experiment.setup =
      "MICRO on 4 to 512 and on 4,096 servers with two processors, one partition each, "
      "load-adaptive trees and six callers; otherwise the set-up of dac_trees. Demand is "
      "relative to the ideal throughput nk/(ns+(n-1)r). The highest throughput is searched for "
      "up to 110 % of it, with 4,096 servers up to 100 %; these announce their loads every 8 s "
      "instead of every second, and are judged at 50 and 90 % too.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 5, .most = 10};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
