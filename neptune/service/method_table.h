// The methods that a module registered for one service, and the checks of a request before it runs.
//
//   registrar ─► Add, AddStream ─► MethodTable ◄─ Find ─ each request
//
// Threads: thread-compatible; complete before the first request, and only read from then on.
// Errors: Find: kUnimplemented unknown method; kInvalidArgument a write called as a read, or a
//   stream called as a method or the reverse; kUnavailable the partition is not here;
//   kDeadlineExceeded the request arrived after its deadline.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/thread_cells.h"
#include "neptune/service/grain_watch.h"
#include "neptune/service/request_outcome.h"
#include "neptune/service/service_module.h"

namespace neptune {

struct IncomingRequest;

// A registered method with its counters, which are fixed when it is registered.
struct ServedMethod {
  std::string name;
  uint64_t number = 0;  // derived from the service and the name; unique on the node
  MethodOptions options;
  // Exactly one of the two is set.
  MethodFunction function;
  StreamFunction stream_function;
  // Indexed by outcome; each kernel thread counts in cells of its own.
  mutable ThreadCells ended{kOutcomeNames.size()};
  std::vector<CallbackGauge> series;  // of `ended`
  // Requests of any outcome that exceeded the time limit.
  Counter* ended_early = nullptr;
  HistogramMetric* queue_time = nullptr;
  HistogramMetric* run_time = nullptr;
  // Set for streams only.
  Counter* messages_read = nullptr;
  Counter* messages_written = nullptr;

  // Notices that requests of a kShort method take long.
  mutable GrainWatch grain;

  bool streams() const { return stream_function != nullptr; }
  bool is_short() const { return options.grain == Grain::kShort && !grain.is_long(); }
  bool may_be_ended_early() const {
    return options.access == AccessMode::kRead && options.stateless;
  }
  void CountEnd(const Status& status) const {
    ended.Add(static_cast<size_t>(RequestOutcomeOf(status)));
  }
};

class MethodTable {
 public:
  MethodTable(ServiceName service, std::vector<PartitionId> partitions, MetricsRegistry& metrics)
      : service_(std::move(service)), partitions_(std::move(partitions)), metrics_(metrics) {}

  // See ServiceRegistrar::Method and Stream.
  void Add(const MethodName& name, const MethodOptions& options, MethodFunction function);
  void AddStream(const MethodName& name, const MethodOptions& options, StreamFunction function);

  struct Found {
    // Null: there is no such method.
    const ServedMethod* method = nullptr;
    // OK if the request may run.
    Status status;
  };
  // Notes the method for later requests with the same names.
  Found Find(const IncomingRequest& request) const;

  // The error of a request for a partition that is not on this node.
  Status NotHere(PartitionId partition) const;

  const ServiceName& service() const { return service_; }
  const std::vector<PartitionId>& partitions() const { return partitions_; }

 private:
  ServedMethod& Register(const MethodName& name, const MethodOptions& options);
  void ShowEnds(const MethodName& name, ServedMethod* method);
  Counter* CounterOf(const char* metric, const char* help, const MethodName& method,
                     MetricLabels more);
  HistogramMetric* TimeOf(const char* metric, const char* help, const MethodName& method);
  const ServedMethod* FindMethod(const IncomingRequest& request) const;
  Status Check(const IncomingRequest& request, const ServedMethod& method) const;

  const ServiceName service_;
  const std::vector<PartitionId> partitions_;
  MetricsRegistry& metrics_;
  std::map<std::string, std::unique_ptr<ServedMethod>, std::less<>> methods_;
};

}  // namespace neptune
