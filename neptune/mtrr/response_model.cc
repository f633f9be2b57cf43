#include "neptune/mtrr/response_model.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace neptune {
namespace {

Status Check(const ThreadedService& service) {
  const auto positive = [](double rate) { return std::isfinite(rate) && rate > 0; };
  if (!positive(service.arrival_rate)) {
    return InvalidArgument("arrival rate is ", service.arrival_rate,
                           "/s, expected a positive number");
  }
  if (!positive(service.service_rate)) {
    return InvalidArgument("service rate is ", service.service_rate,
                           "/s, expected a positive number");
  }
  if (service.thread_count < 1 || service.thread_count > kThreadCountMax) {
    return InvalidArgument(service.thread_count, " threads, expected 1 to ", kThreadCountMax);
  }
  if (service.overloaded_thread_count < 0 || service.overloaded_thread_count > kThreadCountMax) {
    return InvalidArgument(service.overloaded_thread_count,
                           " threads of other classes, expected 0 to ", kThreadCountMax);
  }
  if (service.queue_length_max < 0 || service.queue_length_max > kQueuePlaceCountMax) {
    return InvalidArgument("queue length is ", service.queue_length_max, ", expected 0 to ",
                           kQueuePlaceCountMax);
  }
  return OkStatus();
}

// Service rate with `in_service` requests of the class in service.
double ServedAt(const ThreadedService& service, int in_service) {
  const double all = in_service + service.overloaded_thread_count;
  return service.service_rate * service.speedup.At(all) * in_service / all;
}

}  // namespace

StatusOr<ResponseModel> PredictResponse(const ThreadedService& service) {
  NEPTUNE_RETURN_IF_ERROR(Check(service));
  const int places = service.queue_length_max + service.thread_count;
  // Logarithms of the states' probabilities relative to the empty state; the ratios themselves
  // would overflow.
  std::vector<double> weights(static_cast<size_t>(places) + 1);
  for (int i = 1; i <= places; ++i) {
    const double ratio =
        service.arrival_rate / ServedAt(service, std::min(i, service.thread_count));
    weights[static_cast<size_t>(i)] = weights[static_cast<size_t>(i) - 1] + std::log(ratio);
  }
  const double likeliest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - likeliest);
    sum += weight;
  }
  ResponseModel model;
  for (int i = 0; i <= places; ++i) {
    const double share = weights[static_cast<size_t>(i)] / sum;
    model.in_system_mean += i * share;
    model.in_service_mean += std::min(i, service.thread_count) * share;
  }
  model.idle_share = weights.front() / sum;
  model.loss_share = weights.back() / sum;
  model.throughput = service.arrival_rate * (1 - model.loss_share);
  model.response_s = model.in_system_mean / model.throughput;
  model.capacity = ServedAt(service, service.thread_count);
  model.load = service.arrival_rate / model.capacity;
  return model;
}

double QuantumError(int thread_count, double service_rate, double quantum_s) {
  return (thread_count - 1) / (2.0 * thread_count) * (1 - std::exp(-service_rate * quantum_s));
}

}  // namespace neptune
