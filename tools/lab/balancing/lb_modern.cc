// The probe pool compared with polling and with the ideal.

#include "neptune/base/strings.h"
#include "tools/lab/balancing/balancing_run.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr char kMean[] = "response_ms_mean";
constexpr char kTail[] = "response_ms_p99";
constexpr double kServicesMs[] = {1, 5, 20, 200};
constexpr const char* kPolicies[] = {"ideal", "poll 3", "probe_pool"};

Point PointOf(double service_ms, int slow_servers, int clients, const std::string& policy) {
  return Point{{"policy", policy}}
      .Set("service_ms", service_ms)
      .Set("slow_servers", slow_servers)
      .Set("clients", clients);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const std::string policy : kPolicies) {
    for (const double service : kServicesMs) {
      if (length == Length::kSmoke && service != 1) continue;
      points.push_back(PointOf(service, 0, 6, policy));
      points.push_back(PointOf(service, 2, 6, policy));
    }
    if (length == Length::kFull) {
      points.push_back(PointOf(1, 0, 30, policy));
      points.push_back(PointOf(20, 0, 30, policy));
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  BalancingRun run;
  run.workload = workload::PoissonExp(point.Number("service_ms"));
  run.policy = point.Text("policy");
  run.cluster.slow_datagrams = true;
  run.cluster.client_count = static_cast<int>(point.Number("clients"));
  for (int i = 0; i < static_cast<int>(point.Number("slow_servers")); ++i)
    run.cluster.slowness[i] = 3;
  run.warm_up_count = context.Pick<uint64_t>(1'000, 5'000, 20'000);
  run.count = context.Pick<uint64_t>(6'000, 20'000, 200'000);
  return MeasureBalancing(run, context.seed);
}

std::string NameOf(const Point& point) {
  const std::string clients =
      point.Number("clients") == 6 ? "" : StrCat(", ", point.Text("clients"), " clients");
  return StrCat(point.Text("service_ms"), " ms",
                point.Number("slow_servers") == 0 ? "" : ", two servers slow", clients);
}

void JudgePoint(const Results& results, const Point& ours, Judgement* judgement) {
  const std::string name = NameOf(ours);
  const bool slow = ours.Number("slow_servers") > 0;
  const bool many_clients = ours.Number("clients") != 6;
  const Point poll = ours.With("policy", "poll 3");
  const Estimate mean = results.MeanRatio(ours, poll, kMean);
  const Estimate tail = results.MeanRatio(ours, poll, kTail);
  const Estimate ideal = results.MeanRatio(ours, ours.With("policy", "ideal"), kTail);
  if (many_clients) {
    judgement->Shown(StrCat("mean relative to poll's, ", name), "", mean, "x");
    judgement->Shown(StrCat("p99 relative to poll's, ", name), "", tail, "x");
    judgement->Shown(StrCat("p99 relative to ideal's, ", name), "", ideal, "x");
    return;
  }
  const bool fine = ours.Number("service_ms") == 1;
  judgement
      ->AtMost(StrCat("mean relative to poll's, ", name), "", mean, fine && !slow ? 0.65 : 1.02,
               "x")
      .Shape();
  judgement
      ->AtMost(StrCat("p99 relative to poll's, ", name), "", tail, fine && !slow ? 0.60 : 1.02, "x")
      .Shape();
  judgement->AtMost(StrCat("p99 relative to ideal's, ", name), "", ideal, slow ? 1.6 : 1.35, "x");
}

plot::Plot Figure(const Results& results, int slow_servers) {
  plot::Plot figure{
      .name = slow_servers == 0 ? "modern" : "modern_slow",
      .title = StrCat("99th percentile relative to ideal's, 90 % utilization",
                      slow_servers == 0 ? "" : ", two of 16 servers three times slower"),
      .x = {.label = "mean service time, ms", .logarithmic = true},
      .y = {.label = "p99 relative to ideal's", .low = 0}};
  for (const std::string policy : {"poll 3", "probe_pool"}) {
    plot::Series series{.name = policy, .dots = {}};
    for (const double service : kServicesMs) {
      const Point point = PointOf(service, slow_servers, 6, policy);
      if (!results.Has(point)) continue;
      const Estimate ratio = results.MeanRatio(point, point.With("policy", "ideal"), kTail);
      series.dots.push_back({service, ratio.middle, ratio.low, ratio.high});
    }
    figure.series.push_back(std::move(series));
  }
  figure.levels.push_back({"line", slow_servers == 0 ? 1.35 : 1.6});
  return figure;
}

void Judge(const Results& results, Judgement* judgement) {
  for (const Point& point : results.points()) {
    if (point.Text("policy") == "probe_pool") JudgePoint(results, point, judgement);
  }
  judgement->AddPlot(Figure(results, 0));
  judgement->AddPlot(Figure(results, 2));
}

}  // namespace

Experiment LbModern() {
  Experiment experiment;
  experiment.name = "lb_modern";
  experiment.title = "The probe pool compared with polling";
  experiment.source = "bounds of this system; the idea is from Prequal [Wydrowski24]";
  experiment.setup =
      "16 servers at 90 % utilization, 6 clients, Poisson arrivals, exponential service times. "
      "Polls and probes are subject to the same slow servers, with the profile of [Shen02]; poll "
      "3 discards polls after 10 ms. The ideal policy knows every queue and speed, including "
      "calls in transit. In half of the rows two of the 16 servers are three times slower.";
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
