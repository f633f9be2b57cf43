// The serving half of one module on one node.
//
//   request ─► MethodTable: known? partition here? deadline not passed? ─► its class
//     stream ─────────────────────────► OpenStreams ──────────────────────────┐
//     short and nothing waits ─────────► at once, on the loop that read it ───┤  never parks: in
//                                                                             │  the event handler
//     else ─► RequestPool: class queues, a free thread of the pool, a worker ─┴─► RequestRunner
//
// The host composes these parts and decides which of them a request goes to; each has a header of
// its own. Their order of construction is the order of their dependence.
//
// Source: [Shen02] 2.2 (request dispatcher, request queue, worker pool), 4.4 (class queues,
//   scheduling).
// Threads: Dispatch runs on any serving loop; load_index and Describe on any thread.
// Errors: returned as answers: those of method_table.h, request_pool.h, open_streams.h and
//   request_runner.h.
// Limits: ServiceHostOptions.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/metrics.h"
#include "neptune/membership/announcement.h"
#include "neptune/scheduling/class_rules.h"
#include "neptune/scheduling/class_threads.h"
#include "neptune/scheduling/scheduler_options.h"
#include "neptune/sert/time_limit.h"
#include "neptune/service/method_table.h"
#include "neptune/service/node_loops.h"
#include "neptune/service/open_streams.h"
#include "neptune/service/pool_queue.h"
#include "neptune/service/request_pool.h"
#include "neptune/service/request_runner.h"
#include "neptune/service/request_statistics.h"
#include "neptune/service/service_load.h"
#include "neptune/service/service_module.h"
#include "neptune/service/span_log.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {

struct ServiceHostOptions {
  // Classes, and the order in which queued requests are served. Default: one class, first come,
  // first served.
  SchedulerOptions scheduling = {.policy = SchedulingPolicy::kFifo, .drop_share = std::nullopt};
  // Rules that assign a class to requests that name none, or override the one that they name.
  std::vector<ClassRule> class_rules = {};
  // Size of the main pool, i.e. how many long requests run at once, and the shares of the classes
  // in it. A request that waits in a capsule is outside of the pool. Default: 8.
  ThreadShares threads = {};
  // Maximum number of short requests that run on user-level threads at once. Default: 1,024.
  size_t short_count_max = 1024;
  // Maximum number of open streams; further ones are refused. Larger: slow readers may hold more
  // memory.
  // Default: 256.
  size_t stream_count_max = 256;
  // Counts and times requests by method. False: /metrics lacks them, and a call costs a little
  // less.
  // Default: true.
  bool with_statistics = true;
  // Ends long requests of stateless read methods early while many requests are lost. Default: none.
  std::optional<TimeLimitOptions> time_limit;
  // A host stops announcing itself after requests have waited this long while none of its pool
  // finished. Larger: tolerates longer requests, but a hung node is called longer. Default: 1.5 s,
  // many times the duration of a search request, so that a hung node is removed within 2 s.
  Duration stall_timeout = std::chrono::milliseconds(1500);
};

class OperatorRegistry;

// Parts of the node that all its hosts use.
struct ServiceHostParts {
  NodeLoops& loops;
  OperatorRegistry& operators;
  MetricsRegistry& metrics;
  SpanLog& spans;
};

class ServiceHost final : public ServiceRegistrar {
 public:
  // The parts must outlive the host.
  ServiceHost(ServiceName service, std::vector<PartitionId> partitions,
              const ServiceHostParts& parts, const ServiceHostOptions& options);
  ~ServiceHost() override;

  // Starts the module; it registers its methods here.
  Status Start(std::unique_ptr<ServiceModule> module, ModuleContext& context);
  void Stop();

  // Accepts a request on a serving loop. `batch`: a read that runs for these partitions instead of
  // the one of its header; those that are not here are settled at once.
  void Dispatch(IncomingRequest&& request, std::shared_ptr<PartitionBatch> batch = nullptr);

  // Runs `event` on the module's pool, ahead of queued requests, because it completes work already
  // begun. `event` is called with OK on a user-level thread, or with the error on the loop if none
  // could be started. The queue is unbounded; callers must bound it. Any loop.
  using Event = PoolQueue::Event;
  void RunEvent(Event event) { pool_.RunEvent(std::move(event)); }

  // Active and queued requests.
  uint32_t load_index() const { return load_.index(); }
  // Returns what to announce now: the healthy partitions, or none while stalled.
  HostedService Describe(TimePoint now) const;
  bool Stalled(TimePoint now) const {
    return queue_.progress().StarvingFor(now) > options_.stall_timeout;
  }
  // Null if requests are not ended early.
  const TimeLimit* time_limit() const { return time_limit_.get(); }
  // Time since a long request last finished, while every thread of the pool is taken; zero while
  // one is free.
  Duration Silence(TimePoint now) const { return queue_.progress().Silence(now); }

  const ServiceName& service() const { return methods_.service(); }
  const std::vector<PartitionId>& partitions() const { return methods_.partitions(); }
  std::string implementation() const { return module_ == nullptr ? "" : module_->implementation(); }
  size_t queue_length() const { return queue_.waiting_count(); }

  // Changes the size and shares of the pool; running requests are not affected. Any thread.
  // Errors: kInvalidArgument as CheckThreadShares.
  Status SetThreads(const ThreadShares& shares);
  ThreadShares threads() const { return queue_.shares(); }
  // State of a class; Classes returns them in the order of class numbers. Any thread.
  struct ClassState {
    std::string name;
    std::optional<size_t> own_threads;
    size_t busy_count = 0;
    size_t waiting_count = 0;
    size_t queue_length_max = 0;
    double guarantee = 0;
    double share = 0;  // of the recent consumption of all classes
    ClassTotals totals;
  };
  std::vector<ClassState> Classes() const;
  SchedulingPolicy policy() const { return options_.scheduling.policy; }

  void Method(const MethodName& name, const MethodOptions& options,
              MethodFunction function) override;
  void Stream(const MethodName& name, const MethodOptions& options,
              StreamFunction function) override;
  using ServiceRegistrar::Reduce;
  void Reduce(const MethodName& name, const ReduceOptions& options, ReduceOperator reduce) override;
  void ReduceStream(const MethodName& name, StreamReduceOperator reduce) override;
  // True if the module registered a stream reduce operator.
  bool reduces_streams() const { return reduces_streams_; }

 private:
  // `class_name`: empty for a gauge of the whole service.
  Status AddGauge(const char* name, const char* help, const std::string& class_name,
                  std::function<double()> value);
  Status AddGauges();
  bool Healthy(PartitionId partition) const;
  // Settles the partitions that are not here, and names one that is in the header.
  void AdmitBatch(PartitionBatch* batch, RequestHeader* header) const;
  // Returns the class of the request, and writes its name into the header.
  ClassNumber Classify(IncomingRequest* request) const;
  // True if the method runs in the event handler itself.
  bool RunsInHandler(const IncomingRequest& request, const ServedMethod& method) const;
  void RunInHandler(const ServedRequest& served);
  // Runs a short request on a user-level thread, if it can begin at once; false: it was not moved.
  bool TryRunInPlace(const ServedRequest& served);

  const ServiceHostOptions options_;
  NodeLoops& loops_;
  OperatorRegistry& operators_;
  MetricsRegistry& metrics_;
  // Destroyed after the methods, the waiting requests and the events, which may refer to it.
  std::unique_ptr<ServiceModule> module_;
  MethodTable methods_;
  const std::unique_ptr<TimeLimit> time_limit_;  // null: requests are not ended early
  ServiceLoad load_;
  RequestStatistics statistics_;
  PoolQueue queue_;
  RequestRunner runner_;
  RequestPool pool_;
  OpenStreams streams_;
  std::atomic<uint32_t> short_count_{0};
  bool reduces_streams_ = false;
  std::vector<CallbackGauge> gauges_;
};

}  // namespace neptune
