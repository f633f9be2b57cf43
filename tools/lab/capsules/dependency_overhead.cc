#include "tools/lab/capsules/dependency_overhead.h"

#include <glog/logging.h>
#include <sys/resource.h>

#include <memory>
#include <utility>

#include "tools/lab/capsules/dependency_real.h"

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StatusOr;

// Large enough for all waiting requests of the side without capsules.
constexpr int kPool = 64;
// Rounds of eight turns.
constexpr int kRoundCount = 2;
// At most one request in this many may be lost.
constexpr size_t kLostOneIn = 100;

double ProcessorUs() {
  rusage usage{};
  PCHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  const auto us = [](const timeval& time) {
    return 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

// One side: the service with or without capsules, and the cost of its turns.
class Side {
 public:
  static StatusOr<std::unique_ptr<Side>> Start(const OverheadOptions& options, bool with_capsules) {
    const Isolation isolation = with_capsules ? Isolation::kCapsules : Isolation::kBoundedPool;
    NEPTUNE_ASSIGN_OR_RETURN(auto cluster, RealDependencyCluster::Start(
                                               {.seed = options.seed,
                                                .service = options.service,
                                                .scheme = {.isolation = isolation, .pool = kPool},
                                                .rate_per_s = options.rate_per_s},
                                               ProcessorTime::kUsed));
    std::unique_ptr<Side> side(new Side(std::move(cluster)));
    NEPTUNE_RETURN_IF_ERROR(side->Offer(options.turn_s));
    side->count_ = side->processor_us_ = side->response_us_ = 0;
    return side;
  }

  Status Offer(double duration_s) {
    const double begin_us = ProcessorUs();
    const DependencyResult result = cluster_->Offer(duration_s);
    processor_us_ += ProcessorUs() - begin_us;
    size_t lost_count = 0;
    for (const DependencyOutcome& one : result.outcomes) {
      if (!one.answered) {
        ++lost_count;
        continue;
      }
      response_us_ += 1e6 * one.response_s;
      ++count_;
    }
    // The cost of one or two lost requests is below the noise.
    if (lost_count * kLostOneIn > result.outcomes.size() + kLostOneIn) {
      return neptune::Unavailable(lost_count, " of ", result.outcomes.size(),
                                  " requests were lost");
    }
    return neptune::OkStatus();
  }

  double processor_us() const { return processor_us_ / count_; }
  double response_us() const { return response_us_ / count_; }

 private:
  explicit Side(std::unique_ptr<RealDependencyCluster> cluster) : cluster_(std::move(cluster)) {}

  const std::unique_ptr<RealDependencyCluster> cluster_;
  double count_ = 0;
  double processor_us_ = 0;
  double response_us_ = 0;
};

}  // namespace

StatusOr<Measurement> MeasureOverhead(const OverheadOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto on, Side::Start(options, /*with_capsules=*/true));
  NEPTUNE_ASSIGN_OR_RETURN(const auto off, Side::Start(options, /*with_capsules=*/false));
  for (int round = 0; round < kRoundCount; ++round) {
    for (Side* const side :
         {on.get(), off.get(), off.get(), on.get(), off.get(), on.get(), on.get(), off.get()}) {
      NEPTUNE_RETURN_IF_ERROR(side->Offer(options.turn_s));
    }
  }
  return Measurement{{"processor_us_on", on->processor_us()},
                     {"processor_us_off", off->processor_us()},
                     {"processor_ratio", on->processor_us() / off->processor_us()},
                     {"response_us_on", on->response_us()},
                     {"response_us_off", off->response_us()},
                     {"response_ratio", on->response_us() / off->response_us()}};
}

}  // namespace search::lab
