// The response model at its limits, where closed forms are known; and the error of finite turns.

#include <algorithm>
#include <cmath>
#include <string>

#include "neptune/base/strings.h"
#include "neptune/mtrr/response_model.h"
#include "neptune/world/random_source.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/threads/threaded_host.h"

namespace search::lab {
namespace {

using neptune::RandomSource;
using neptune::ResponseModel;
using neptune::Speedup;
using neptune::StrCat;
using neptune::ThreadedService;

constexpr char kDeviation[] = "deviation_max";
constexpr double kLine = 1e-9;
constexpr int kDrawCount = 500;

// The steady state of a queue by its closed form.
struct ClosedForm {
  long double number = 0;
  long double loss = 0;
};

// M/M/1/K.
ClosedForm OneServer(long double rho, int places) {
  const long double last = std::pow(rho, static_cast<long double>(places + 1));
  return {.number = rho / (1 - rho) - (places + 1) * last / (1 - last),
          .loss = (1 - rho) * last / rho / (1 - last)};
}

// M/M/m/K, from Erlang's loss formula: the sum over the states up to m is p_m / B(m, a).
ClosedForm ManyServers(long double offered, int servers, int queue) {
  long double erlang = 1;
  for (int n = 1; n <= servers; ++n) erlang = offered * erlang / (n + offered * erlang);
  const long double r = offered / servers;
  const long double power = std::pow(r, static_cast<long double>(queue));
  const long double waiting = r * (1 - power) / (1 - r);  // states beyond m, in units of p_m
  const long double line =                                // and the requests that wait in them
      r * (1 - (queue + 1) * power + queue * power * r) / ((1 - r) * (1 - r));
  const long double sum = 1 / erlang + waiting;
  return {.number = (offered * (1 / erlang - 1) + servers * waiting + line) / sum,
          .loss = power / sum};
}

// Any speedup with rho = C, the pole of the source's (7): all states from the saturation point on
// are equally likely.
ClosedForm AtCapacity(double alpha, int gaining, int places) {
  const long double rho = (gaining - 1) * static_cast<long double>(alpha) + 1;
  long double weight = 1;
  long double sum = 1;
  long double number = 0;
  for (int i = 1; i <= gaining; ++i) {
    weight *= rho / ((i - 1) * static_cast<long double>(alpha) + 1);
    sum += weight;
    number += i * weight;
  }
  const long double rest = places - gaining;
  sum += rest * weight;
  number += weight * (rest * gaining + rest * (rest + 1) / 2);
  return {.number = number / sum, .loss = weight / sum};
}

double Deviation(const ThreadedService& service, const ClosedForm& closed) {
  const ResponseModel model = *neptune::PredictResponse(service);
  const auto off = [](double ours, long double exact) {
    return std::abs(static_cast<double>(ours / exact - 1));
  };
  const long double throughput = service.arrival_rate * (1 - closed.loss);
  double deviation = std::max(off(model.in_system_mean, closed.number),
                              off(model.response_s, closed.number / throughput));
  // A share below the resolution of a double near 1 counts as no loss.
  if (closed.loss > 1e-300L) deviation = std::max(deviation, off(model.loss_share, closed.loss));
  return deviation;
}

// Avoids 1, where the closed forms divide by zero.
double DrawLoad(RandomSource& random) {
  const double below = 0.05 + 0.94 * random.Uniform();
  return random.Below(2) == 0 ? below : 1 / below;
}

int DrawUpTo(RandomSource& random, int most) {
  return 1 + static_cast<int>(random.Below(static_cast<uint64_t>(most)));
}

double DeviationOnce(const std::string& limit, RandomSource& random) {
  const double mu = 1 + 99 * random.Uniform();
  const double load = DrawLoad(random);
  const int threads = DrawUpTo(random, 64);
  const int queue = static_cast<int>(random.Below(256));
  ThreadedService service{.arrival_rate = mu * load, .service_rate = mu};
  if (limit == "processor sharing, unbounded") {
    // Enough threads that no request ever waits for one.
    service.arrival_rate = mu * (0.05 + 0.85 * random.Uniform());
    service.thread_count = neptune::kThreadCountMax;
    const double rho = service.arrival_rate / mu;
    return std::abs(neptune::PredictResponse(service)->response_s * mu * (1 - rho) - 1);
  }
  if (limit == "processor sharing") {
    service.thread_count = threads;
    service.queue_length_max = queue;
    return Deviation(service, OneServer(load, queue + threads));
  }
  if (limit == "M/M/1/K") {
    service.queue_length_max = queue;
    return Deviation(service, OneServer(load, queue + 1));
  }
  if (limit == "M/M/1/K among others") {
    service.overloaded_thread_count = DrawUpTo(random, 64);
    service.queue_length_max = queue;
    service.arrival_rate /= 1 + service.overloaded_thread_count;
    return Deviation(service, OneServer(load, queue + 1));
  }
  if (limit == "M/M/m/K") {
    service.arrival_rate *= threads;
    service.speedup = *Speedup::Make(1, threads);
    service.thread_count = threads;
    service.queue_length_max = queue;
    return Deviation(service, ManyServers(service.arrival_rate / mu, threads, queue));
  }
  const double alpha = random.Uniform();
  const int saturation = DrawUpTo(random, 64);
  const int gaining = std::min(saturation, threads);
  service.arrival_rate = mu * ((gaining - 1) * alpha + 1);
  service.speedup = *Speedup::Make(alpha, saturation);
  service.thread_count = threads;
  service.queue_length_max = queue;
  return Deviation(service, AtCapacity(alpha, gaining, queue + threads));
}

// (10) of the source from its sum over places in the round, against (11).
double QuantumDeviationOnce(RandomSource& random) {
  const int threads = 1 + DrawUpTo(random, 64);
  const double mu = 1 + 99 * random.Uniform();
  const double quantum_s = 0.001 + 0.1 * random.Uniform();
  const double goes_on = std::exp(-mu * quantum_s);
  const double turn_s = (1 - goes_on) / mu;
  double round_s = 0;
  for (int before = 0; before < threads; ++before) {
    round_s += (before * turn_s + turn_s + goes_on * (threads - before - 1) * turn_s) / threads;
  }
  const double processing_s = round_s / (1 - goes_on);
  const double infinitely_short = threads / mu;
  const double error = 1 - processing_s / infinitely_short;
  return std::abs(neptune::QuantumError(threads, mu, quantum_s) / error - 1);
}

// The effect of 10 ms turns on a saturated host.
neptune::StatusOr<Measurement> MeasureTurns(const Point& point, const RunContext& context) {
  const int threads = static_cast<int>(point.Number("threads"));
  const double mu = 50;
  ThreadedRun run{.classes = {{.thread_count = threads}}, .speedup = {}};
  run.length_s = context.Pick(100.0, 300.0, 1000.0);
  NEPTUNE_ASSIGN_OR_RETURN(const auto outcomes, RunThreadedHost(run, context.seed));
  const double predicted_s = threads / mu;
  return Measurement{
      {"over_prediction", (predicted_s - outcomes[0].processing_s_mean) / predicted_s},
      {"bound", neptune::QuantumError(threads, mu, neptune::ToSeconds(run.quantum))}};
}

const char* const kLimits[] = {"processor sharing, unbounded", "processor sharing", "M/M/1/K",
                               "M/M/1/K among others",         "M/M/m/K",           "rho = C"};
constexpr int kTurnThreads[] = {2, 8, 23};

Point LimitPoint(const std::string& limit) { return Point{{"limit", limit}}.Set("threads", 0.0); }
Point TurnPoint(int threads) { return Point{{"limit", "turns of 10 ms"}}.Set("threads", threads); }

std::vector<Point> Points(Length) {
  std::vector<Point> points;
  for (const char* limit : kLimits) points.push_back(LimitPoint(limit));
  points.push_back(LimitPoint("finite turns"));
  for (const int threads : kTurnThreads) points.push_back(TurnPoint(threads));
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  if (point.Number("threads") > 0) return MeasureTurns(point, context);
  RandomSource random(context.seed);
  double most = 0;
  for (int draw = 0; draw < kDrawCount; ++draw) {
    const std::string& limit = point.Text("limit");
    most = std::max(most, limit == "finite turns" ? QuantumDeviationOnce(random)
                                                  : DeviationOnce(limit, random));
  }
  return Measurement{{kDeviation, most}};
}

void JudgeLimit(const Results& results, const std::string& limit, const std::string& paper,
                Judgement* judgement) {
  judgement
      ->AtMost(StrCat(limit, ": largest deviation"), paper,
               results.Largest(LimitPoint(limit), kDeviation), kLine)
      .Shape();
}

void Judge(const Results& results, Judgement* judgement) {
  JudgeLimit(results, "processor sharing, unbounded", "alpha = 0 is processor sharing", judgement);
  JudgeLimit(results, "processor sharing", "alpha = 0 is processor sharing", judgement);
  JudgeLimit(results, "M/M/1/K", "alpha = 0, one thread", judgement);
  JudgeLimit(results, "M/M/1/K among others", "", judgement);
  JudgeLimit(results, "M/M/m/K", "alpha = 1", judgement);
  JudgeLimit(results, "rho = C", "", judgement);
  JudgeLimit(results, "finite turns", "(11)", judgement);
  for (const int threads : kTurnThreads) {
    const Estimate bound = results.Mean(TurnPoint(threads), "bound");
    judgement->AtMost(
        StrCat("over-prediction measured with time slices of 10 ms, ", threads, " threads"),
        StrCat("at most ", NumberText(bound.middle)),
        results.Mean(TurnPoint(threads), "over_prediction"), bound.middle);
  }
  judgement->Note(
      "The over-prediction is a bound, not the expected error. On a host whose threads are "
      "always busy, Little's law alone makes the mean processing time m / mu, whatever the "
      "length of a time slice; and with exponential service times no order that is independent "
      "of the remaining work changes a mean.");
}

}  // namespace

Experiment MtrrLimits() {
  Experiment experiment;
  experiment.name = "mtrr_limits";
  experiment.title = "The response time model compared with closed forms";
  experiment.source = "[Jamjoom04] IV, (7) to (11)";
  experiment.setup =
      "The model's number of requests in the system, response time and loss are compared with "
      "closed forms that are computed by other methods, for 500 randomly drawn settings per "
      "seed: up to 64 threads, queues of up to 255 places, loads of 0.05 to 20. Then the error "
      "caused by time slices of finite length: its formula is compared with the sum that it is "
      "derived from, and with a simulated host (mu = 50, no speedup) whose threads are always "
      "busy.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 20};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
