// Compares the model with the closed forms of its limits.

#include "neptune/mtrr/response_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

constexpr double kExact = 1e-9;

// The rate of one thread, and the parameters of the speedup by more threads.
struct Service {
  double rate = 0;
  double alpha = 0;
  int saturation = 1;
};

ResponseModel Predict(double arrival_rate, const Service& service, int threads, int queue,
                      int overloaded_threads = 0) {
  return *PredictResponse({.arrival_rate = arrival_rate,
                           .service_rate = service.rate,
                           .speedup = *Speedup::Make(service.alpha, service.saturation),
                           .thread_count = threads,
                           .queue_length_max = queue,
                           .overloaded_thread_count = overloaded_threads});
}

// Mean number of requests in M/M/1/K, by its closed form.
double NumberInMm1k(double rho, int k) {
  if (rho == 1) return k / 2.0;
  return rho / (1 - rho) - (k + 1) * std::pow(rho, k + 1) / (1 - std::pow(rho, k + 1));
}

TEST(ResponseModelTest, NoSpeedupIsProcessorSharing) {
  for (const double rho : {0.2, 0.9, 1.0, 1.7}) {
    for (const int threads : {1, 4, 30}) {
      SCOPED_TRACE(StrCat("rho ", rho, ", threads ", threads));
      const ResponseModel model = Predict(50 * rho, {50, 0, 1}, threads, 20);
      const int k = 20 + threads;
      EXPECT_NEAR(model.in_system_mean / NumberInMm1k(rho, k), 1, kExact);
      const double lost =
          rho == 1 ? 1.0 / (k + 1) : std::pow(rho, k) * (1 - rho) / (1 - std::pow(rho, k + 1));
      EXPECT_NEAR(model.loss_share / lost, 1, kExact);
      EXPECT_NEAR(model.response_s * model.throughput / model.in_system_mean, 1, kExact);
    }
  }
}

// Compares p_n of M/M/m/K with its closed form.
TEST(ResponseModelTest, FullSpeedupIsManyServers) {
  for (const double offered : {0.5, 3.0, 4.0, 7.0}) {
    SCOPED_TRACE(StrCat("offered ", offered));
    const int m = 4;
    const int k = 14;
    double sum = 0;
    double number = 0;
    double last = 0;
    for (int n = 0; n <= k; ++n) {
      const double p = n <= m ? std::pow(offered, n) / std::tgamma(n + 1)
                              : std::pow(offered, n) / (std::tgamma(m + 1) * std::pow(m, n - m));
      sum += p;
      number += n * p;
      last = p;
    }
    const ResponseModel model = Predict(50 * offered, {50, 1, m}, m, k - m);
    EXPECT_NEAR(model.in_system_mean / (number / sum), 1, kExact);
    EXPECT_NEAR(model.loss_share / (last / sum), 1, kExact);
    EXPECT_NEAR(model.capacity, 200, kExact);
  }
}

// Compares with (7) of the source, where it has no pole.
TEST(ResponseModelTest, IdleShareIsTheSourcesClosedForm) {
  RandomSource random(5);
  for (int round = 0; round < 200; ++round) {
    const double alpha = random.Uniform();
    const int saturation = 1 + static_cast<int>(random.Below(12));
    const int threads = 1 + static_cast<int>(random.Below(12));
    const int queue = static_cast<int>(random.Below(40));
    const double rho = 0.1 + 4 * random.Uniform();
    const int m = std::min(saturation, threads);
    const double c = (m - 1) * alpha + 1;
    if (std::abs(rho / c - 1) < 1e-3) continue;
    const auto psi = [&](int i) {
      double product = 1;
      for (int n = 1; n <= i; ++n) product *= n * alpha + 1;
      return product;
    };
    double sum = 1;
    for (int i = 1; i <= m; ++i) sum += std::pow(rho, i) / psi(i - 1);
    const int k = queue + threads;
    sum +=
        (std::pow(rho, m) - std::pow(rho, k) / std::pow(c, k - m)) / (psi(m - 1) * (c / rho - 1));
    const ResponseModel model = Predict(30 * rho, {30, alpha, saturation}, threads, queue);
    ASSERT_NEAR(model.idle_share * sum, 1, 1e-7) << "round " << round;
  }
}

TEST(ResponseModelTest, ModelIsContinuousWhereLoadMeetsCapacity) {
  const double at = Predict(100, {50, 0.5, 3}, 3, 64).response_s;
  const double below = Predict(100 * (1 - 1e-7), {50, 0.5, 3}, 3, 64).response_s;
  const double above = Predict(100 * (1 + 1e-7), {50, 0.5, 3}, 3, 64).response_s;
  EXPECT_GT(at, below);
  EXPECT_LT(at, above);
  EXPECT_NEAR(above / below, 1, 1e-4);
}

TEST(ResponseModelTest, OverloadFillsTheQueueAndNoMore) {
  const ResponseModel model = Predict(1e6, {50, 0.14, 23}, 23, 128);
  EXPECT_NEAR(model.in_system_mean, 151, 0.01);
  EXPECT_NEAR(model.response_s, 151 / (50 * 4.08), 1e-3);
  EXPECT_NEAR(model.throughput, 50 * 4.08, 1e-3);
  EXPECT_NEAR(model.in_service_mean, 23, 1e-6);
}

TEST(ResponseModelTest, OthersThreadsTakeTheirTurns) {
  // One thread beside three that are always busy, without speedup: a quarter of the machine.
  const ResponseModel model = Predict(5, {50, 0, 1}, 1, 30, 3);
  const ResponseModel alone = Predict(5, {12.5, 0, 1}, 1, 30);
  EXPECT_NEAR(model.response_s / alone.response_s, 1, kExact);
  EXPECT_LT(Predict(5, {50, 0, 1}, 3, 30, 3).response_s, model.response_s)
      << "more threads take more turns";
}

TEST(ResponseModelTest, LongQueuesAndExtremeLoadsStayFinite) {
  for (const double rho : {1e-6, 0.999999, 1.0, 1.000001, 1e6}) {
    const ResponseModel model = Predict(rho, {1, 0, 1}, 1, kQueuePlaceCountMax);
    EXPECT_TRUE(std::isfinite(model.response_s) && model.response_s > 0) << rho;
  }
}

TEST(ResponseModelTest, QuantumErrorIsTheSources) {
  EXPECT_NEAR(QuantumError(100, 50, 0.01), 0.19, 0.01);
  EXPECT_EQ(QuantumError(1, 50, 0.01), 0);
  EXPECT_EQ(QuantumError(8, 50, 0), 0);
}

TEST(ResponseModelTest, RefusesInvalidServices) {
  const ThreadedService sound{.arrival_rate = 1, .service_rate = 1};
  EXPECT_TRUE(PredictResponse(sound).ok());
  const auto fault = [&](auto change) {
    ThreadedService service = sound;
    change(service);
    return PredictResponse(service).status().code() == StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(fault([](ThreadedService& s) { s.arrival_rate = 0; }));
  EXPECT_TRUE(fault([](ThreadedService& s) { s.arrival_rate = -1; }));
  EXPECT_TRUE(fault([](ThreadedService& s) { s.service_rate = std::nan(""); }));
  EXPECT_TRUE(fault([](ThreadedService& s) { s.thread_count = 0; }));
  EXPECT_TRUE(fault([](ThreadedService& s) { s.queue_length_max = -1; }));
  EXPECT_TRUE(fault([](ThreadedService& s) { s.queue_length_max = kQueuePlaceCountMax + 1; }));
  EXPECT_TRUE(fault([](ThreadedService& s) { s.overloaded_thread_count = -1; }));
}

}  // namespace
}  // namespace neptune
