#include "neptune/examples/micro/micro_work.h"

#include <algorithm>
#include <cmath>

#include "neptune/world/random_source.h"

namespace neptune::examples {
namespace {

enum class Part : uint64_t { kLocal = 0, kReduce = 1 };

// An odd factor separates requests with consecutive seeds.
constexpr uint64_t kSeedFactor = 0x9e3779b97f4a7c15;
// A stream number larger than any partition's.
constexpr uint64_t kOfRequest = uint64_t{1} << 40;
constexpr double kTwoPi = 6.283185307179586;

RandomSource SourceFor(const MicroRequest& request, PartitionId partition, Part part) {
  return RandomSource(request.seed() * kSeedFactor + 2 * uint64_t{partition.value()} +
                      static_cast<uint64_t>(part));
}

Duration Exponential(RandomSource random, uint64_t mean_ns) {
  if (mean_ns == 0) return Duration(0);
  return Duration(std::llround(random.Exponential(static_cast<double>(mean_ns))));
}

// Returns a factor with mean 1; by Box and Muller.
double LogNormal(RandomSource random, double log_deviation) {
  const double radius = std::sqrt(2 * random.Exponential(1));
  const double normal = radius * std::cos(kTwoPi * random.Uniform());
  return std::exp(log_deviation * (normal - log_deviation / 2));
}

Duration HeavyTailed(const MicroRequest& request, PartitionId partition) {
  const RandomSource common(request.seed() * kSeedFactor + kOfRequest);
  const double factor =
      LogNormal(common, request.request_log_deviation()) *
      LogNormal(SourceFor(request, partition, Part::kLocal), request.partition_log_deviation());
  const double time = static_cast<double>(request.local_mean_ns()) * factor;
  return Duration(std::llround(std::min(time, static_cast<double>(kMicroTimeMax.count()))));
}

bool IsDeviation(double value) { return value >= 0 && value <= kMicroLogDeviationMax; }

}  // namespace

MicroRequest MakeMicroRequest(uint64_t seed) {
  MicroRequest request;
  request.set_seed(seed);
  request.set_local_mean_ns(static_cast<uint64_t>(kMicroLocalMean.count()));
  request.set_reduce_mean_ns(static_cast<uint64_t>(kMicroReduceMean.count()));
  return request;
}

Status ValidateMicroRequest(const MicroRequest& request) {
  const uint64_t largest = std::max(request.local_mean_ns(), request.reduce_mean_ns());
  if (largest > static_cast<uint64_t>(kMicroMeanMax.count())) {
    return InvalidArgument("a mean of ", largest, " ns is over ", kMicroMeanMax.count());
  }
  if (!IsDeviation(request.request_log_deviation()) ||
      !IsDeviation(request.partition_log_deviation())) {
    return InvalidArgument("a deviation of logarithms is outside [0, ", kMicroLogDeviationMax, "]");
  }
  return OkStatus();
}

Duration MicroLocalTime(const MicroRequest& request, PartitionId partition) {
  if (request.request_log_deviation() > 0 || request.partition_log_deviation() > 0) {
    return HeavyTailed(request, partition);
  }
  return Exponential(SourceFor(request, partition, Part::kLocal), request.local_mean_ns());
}

Duration MicroReduceTime(const MicroRequest& request, PartitionId partition) {
  return Exponential(SourceFor(request, partition, Part::kReduce), request.reduce_mean_ns());
}

PartitionId TakenIn(const MicroResult& a, const MicroResult& b) {
  return PartitionId(std::max(a.least_partition(), b.least_partition()));
}

MicroResult CombineMicroResults(const MicroResult& a, const MicroResult& b, Duration reduce_time) {
  MicroResult both;
  both.set_partition_sum(a.partition_sum() + b.partition_sum());
  both.set_partition_count(a.partition_count() + b.partition_count());
  both.set_least_partition(std::min(a.least_partition(), b.least_partition()));
  both.set_local_ns(a.local_ns() + b.local_ns());
  both.set_reduce_ns(a.reduce_ns() + b.reduce_ns() + static_cast<uint64_t>(reduce_time.count()));
  return both;
}

}  // namespace neptune::examples
