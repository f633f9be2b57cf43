#include "tools/workload/workloads.h"

#include <cmath>

namespace search::workload {
namespace {

Workload OneClass(std::string name, Distribution gap, Distribution service) {
  return {std::move(name), gap, {{.name = "all", .service = service}}};
}

// Three classes of one service with yields 4 : 2 : 1.
Workload DifferentiatedSearch() {
  const Distribution service = Distribution::Gamma(247.9, 218.2);
  return {"Differentiated Search",
          Distribution::Gamma(163.0, 166.0),
          {{"Gold", 0.1, service, 4}, {"Silver", 0.3, service, 2}, {"Bronze", 0.6, service, 1}}};
}

Workload MicroBenchmark() {
  return {"Micro-benchmark",
          Distribution::Exponential(200),
          {{"Gold", 0.1, Distribution::Exponential(400), 4},
           {"Silver", 0.3, Distribution::Exponential(200), 2},
           {"Bronze", 0.6, Distribution::Exponential(100), 1}}};
}

// DailyRate is exp(k cos) over its mean, the Bessel function I0(k); this k makes the peak 3.
constexpr double kDailyConcentration = 1.7606;

}  // namespace

double Workload::service_mean() const {
  double mean = 0;
  for (const RequestClass& one : classes) mean += one.share * one.service.mean();
  return mean;
}

const RequestClass& Workload::Draw(neptune::RandomSource& random) const {
  double at = random.Uniform();
  for (const RequestClass& one : classes) {
    if (at < one.share) return one;
    at -= one.share;
  }
  return classes.back();
}

Workload PoissonExp(double service_mean_ms) {
  return OneClass("Poisson/Exp", Distribution::Exponential(service_mean_ms),
                  Distribution::Exponential(service_mean_ms));
}

std::vector<Workload> AllWorkloads() {
  return {
      PoissonExp(50),
      OneClass("Fine-Grain", Distribution::Gamma(436.7, 349.4), Distribution::Gamma(22.2, 10.0)),
      OneClass("Medium-Grain", Distribution::Gamma(341.5, 321.1), Distribution::Gamma(208.9, 62.9)),
      DifferentiatedSearch(),
      MicroBenchmark(),
      // 507,202 queries in 7 hours, repeats among them.
      OneClass("Ask stream", Distribution::Exponential(7 * 3600e3 / 507202),
               Distribution::Gamma(247.9, 218.2)),
      OneClass("MICRO", Distribution::Exponential(25), Distribution::Exponential(25)),
      OneClass("Index matching", Distribution::Exponential(23.6),
               Distribution::HeavyTail(23.6, 46, 2732)),
      OneClass("Ranking", Distribution::Exponential(93), Distribution::Exponential(93)),
      OneClass("Bimodal", Distribution::Exponential(20),
               Distribution::Choice({{5, 0.9}, {500, 0.1}})),
  };
}

neptune::StatusOr<Workload> FindWorkload(std::string_view name) {
  for (Workload& workload : AllWorkloads()) {
    if (workload.name == name) return std::move(workload);
  }
  return neptune::NotFound("unknown workload '", name, "'");
}

double DailyRate(double time_of_day) {
  return std::exp(kDailyConcentration * std::cos(2 * M_PI * (time_of_day - 0.5))) /
         std::cyl_bessel_i(0.0, kDailyConcentration);
}

}  // namespace search::workload
