// How long the local operators of a node take, by service and method, waits included.
//
// A mean in processor time (cost_meter.h) does not tell whether operators wait for others; those
// that do should run beside each other.
//
// Threads: thread-safe.
// Units: time from the start of an operator to its end.
// Limits: kOperatorCountMax operators; further ones are not known.

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "neptune/base/ewma.h"
#include "neptune/base/ids.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"

namespace neptune {

class OperatorTimes {
 public:
  static constexpr size_t kOperatorCountMax = 256;

  // nullopt: none has run yet.
  std::optional<Duration> MeanOf(const ServiceName& service, const MethodName& method) const {
    LeafLock lock(&mutex_);
    const auto found = means_.find({service, method});
    if (found == means_.end()) return std::nullopt;
    return Duration(static_cast<int64_t>(found->second.value()));
  }
  // `count` operators took `time` together.
  void Add(const ServiceName& service, const MethodName& method, Duration time, size_t count) {
    LeafLock lock(&mutex_);
    auto found = means_.find({service, method});
    if (found == means_.end()) {
      if (means_.size() >= kOperatorCountMax) return;
      found = means_.emplace(std::pair(service, method), Ewma(kWeight)).first;
    }
    found->second.Add(static_cast<double>(time.count()) / static_cast<double>(count));
  }

 private:
  // Half of the weight is on the last 35 operations, as in CostMeter.
  static constexpr double kWeight = 0.02;

  mutable LeafMutex mutex_;
  std::map<std::pair<ServiceName, MethodName>, Ewma> means_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
