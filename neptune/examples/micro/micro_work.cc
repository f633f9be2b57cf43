#include "neptune/examples/micro/micro_work.h"

#include <algorithm>
#include <cmath>

#include "neptune/world/random_source.h"

namespace neptune::examples {
namespace {

enum class Part : uint64_t { kLocal = 0, kReduce = 1 };

Duration Draw(const MicroRequest& request, PartitionId partition, Part part, uint64_t mean_ns) {
  if (mean_ns == 0) return Duration(0);
  // An odd factor keeps requests of neighbouring seeds apart.
  RandomSource random(request.seed() * 0x9e3779b97f4a7c15 + 2 * uint64_t{partition.value()} +
                      static_cast<uint64_t>(part));
  return Duration(std::llround(random.Exponential(static_cast<double>(mean_ns))));
}

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
  return OkStatus();
}

Duration MicroLocalTime(const MicroRequest& request, PartitionId partition) {
  return Draw(request, partition, Part::kLocal, request.local_mean_ns());
}

Duration MicroReduceTime(const MicroRequest& request, PartitionId partition) {
  return Draw(request, partition, Part::kReduce, request.reduce_mean_ns());
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
