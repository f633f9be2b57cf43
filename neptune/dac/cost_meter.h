// Mean costs of a node's aggregation operators, and the node's pending work.
//
// Each queued or running request counts s + rho * a: the mean time s of a local operator, and rho
// reductions of mean time a. The sum over the requests is the load by which trees are formed.
//
// Source: [Chu03] 4.5 (1).
// Departs from source: costs are the processor time of each operator on its own thread, not that of
//   the process in /proc.
// Threads: thread-safe.
// Units: processor time of the node; divide by its number of processors for the time until
//   completion.
// Limits: kServiceCountMax services; further services have no means.

#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <utility>

#include "neptune/base/ewma.h"
#include "neptune/base/ids.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"

namespace neptune {

class CostMeter {
 public:
  static constexpr size_t kServiceCountMax = 256;

  struct Means {
    Duration local{0};
    Duration reduce{0};
  };
  // Zero for what was not measured yet.
  Means Of(const ServiceName& service) const {
    LeafLock lock(&mutex_);
    const auto found = services_.find(service);
    if (found == services_.end()) return {};
    const auto mean = [](const Ewma& ewma) { return Duration(static_cast<int64_t>(ewma.value())); };
    return {mean(found->second.local), mean(found->second.reduce)};
  }
  void AddLocal(const ServiceName& service, Duration time) { Add(service, &Measured::local, time); }
  void AddReduce(const ServiceName& service, Duration time) {
    Add(service, &Measured::reduce, time);
  }

  Duration pending() const { return Duration(pending_ns_.load(std::memory_order_relaxed)); }

 private:
  friend class PendingWork;
  // Half of the weight is on the last 35 operations, so that the mean follows a change of data
  // within seconds and is stable under exponentially distributed times.
  static constexpr double kWeight = 0.02;
  struct Measured {
    Ewma local{kWeight};
    Ewma reduce{kWeight};
  };
  void Add(const ServiceName& service, Ewma Measured::*mean, Duration time) {
    LeafLock lock(&mutex_);
    auto found = services_.find(service);
    if (found == services_.end()) {
      if (services_.size() >= kServiceCountMax) return;
      found = services_.emplace(service, Measured()).first;
    }
    (found->second.*mean).Add(static_cast<double>(time.count()));
  }

  mutable LeafMutex mutex_;
  std::map<ServiceName, Measured> services_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int64_t> pending_ns_{0};
};

// The share of one request in the pending work; the destructor removes it.
class PendingWork {
 public:
  PendingWork(CostMeter& costs, Duration work) : costs_(costs), left_(work) {
    costs_.pending_ns_ += work.count();
  }
  ~PendingWork() { Settle(left_); }
  PendingWork(const PendingWork&) = delete;
  PendingWork& operator=(const PendingWork&) = delete;

  // Removes `part`, because it is done or will not be done.
  void Settle(Duration part) {
    part = std::min(part, left_);
    left_ -= part;
    costs_.pending_ns_ -= part.count();
  }

 private:
  CostMeter& costs_;
  Duration left_;
};

// The pending work of one task, at the means of its arrival: a local operator for each own
// partition, and a reduction for each further result. A caller's reductions do not count.
class TaskWork {
 public:
  TaskWork(CostMeter& costs, const ServiceName& service, size_t own_count, size_t child_count)
      : means_(costs.Of(service)), left_(costs, WorkOf(means_, own_count, child_count)) {}

  // A local operator, or a reduction, has ended.
  void SettleLocal() { left_.Settle(means_.local); }
  void SettleReduction() { left_.Settle(means_.reduce); }

 private:
  static Duration WorkOf(const CostMeter::Means& means, size_t own_count, size_t child_count) {
    if (own_count == 0) return Duration(0);
    const auto reductions = static_cast<int64_t>(own_count + child_count - 1);
    return means.local * static_cast<int64_t>(own_count) + means.reduce * reductions;
  }

  const CostMeter::Means means_;
  PendingWork left_;
};

}  // namespace neptune
