// The serving half of one module on one node: registered methods, class queues, worker pool.
//
//   request ─► method known? partition here? deadline not passed? ─► its class
//              short and queue empty: runs at once on the loop that read it ──────────┐
//              else: bounded queue of its class ─► scheduler, a free thread ─► pool ──┴─► answer
//
// Streams bypass the queue: each has a user-level thread of its own while it is open and counts as
// one in the load index. A stream over stream_count_max is refused.
//
// Source: [Shen02] 2.2 (request dispatcher, request queue, worker pool), 4.4 (class queues,
//   scheduling).
// Departs from source: workers are user-level threads; a thread of the pool is a slot among the
//   requests that run at once.
// Threads: Dispatch runs on any serving loop; load_index and Describe on any thread.
// Errors: returned as answers: kUnimplemented unknown method; kInvalidArgument a write called as a
//   read; kUnavailable the partition is not here; kResourceExhausted the queue of the class is
//   full, or too long for the request to yield anything; kDeadlineExceeded the deadline passed
//   before the request ran; kInternal the method threw an exception.
// Limits: ServiceHostOptions.

#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/membership/announcement.h"
#include "neptune/scheduling/class_rules.h"
#include "neptune/scheduling/class_scheduler.h"
#include "neptune/scheduling/class_threads.h"
#include "neptune/sert/time_limit.h"
#include "neptune/service/class_statistics.h"
#include "neptune/service/node_loops.h"
#include "neptune/service/service_module.h"
#include "neptune/service/span_log.h"
#include "neptune/thread/synchronization.h"

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
  // Requests keep their place in the pool while they wait, as in a thread pool without capsules.
  // For experiments only.
  bool waits_inside = false;
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

class ServiceHost final : public ServiceRegistrar {
 public:
  ServiceHost(ServiceName service, std::vector<PartitionId> partitions, NodeLoops& loops,
              OperatorRegistry& operators, MetricsRegistry& metrics, SpanLog& spans,
              const ServiceHostOptions& options);
  ~ServiceHost() override;

  // Starts the module; it registers its methods here.
  Status Start(std::unique_ptr<ServiceModule> module, ModuleContext& context);
  void Stop();

  // Accepts a request on a serving loop.
  void Dispatch(IncomingRequest&& request);

  // Runs `event` on the module's pool, ahead of queued requests, because it completes work already
  // begun. `event` is called with OK on a user-level thread, or with the error on the loop if none
  // could be started. The queue is unbounded; callers must bound it. Any loop.
  using Event = absl::AnyInvocable<void(const Status&)>;
  void RunEvent(Event event);

  // Active and queued requests.
  uint32_t load_index() const { return load_.load(std::memory_order_relaxed); }
  // Returns what to announce now: the healthy partitions, or none while stalled.
  HostedService Describe(TimePoint now) const;
  bool Stalled(TimePoint now) const;
  // Null if requests are not ended early.
  const TimeLimit* time_limit() const { return time_limit_ ? &*time_limit_ : nullptr; }
  // Time since a long request last finished, while every thread of the pool is taken; zero while
  // one is free.
  Duration Silence(TimePoint now) const;

  const ServiceName& service() const { return service_; }
  const std::vector<PartitionId>& partitions() const { return partitions_; }
  std::string implementation() const { return module_ == nullptr ? "" : module_->implementation(); }
  size_t queue_length() const;

  // Changes the size and shares of the pool; running requests are not affected. Any thread.
  // Errors: kInvalidArgument as CheckThreadShares.
  Status SetThreads(const ThreadShares& shares);
  ThreadShares threads() const;
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
  struct MethodEntry;
  class PoolPlace;
  // An accepted request with its method and class.
  struct Taken {
    IncomingRequest request;
    const MethodEntry* method = nullptr;
    ClassNumber service_class = 0;
  };
  // Outcome of a request, for its statistics, its span and its answer.
  struct Served {
    TimePoint begin;
    TimePoint end;
    Duration processor{0};
    Status status;
  };

  MethodEntry& Register(const MethodName& name, const MethodOptions& options);
  // Value of threads_taken_since_ns_ while a thread is free.
  static constexpr int64_t kThreadsFree = -1;

  bool Healthy(PartitionId partition) const;
  // Changes the load index of this service and of the node.
  void CountLoad(int requests);
  const MethodEntry* Find(const IncomingRequest& request, Status* why) const;
  // Returns the class of the request, and writes its name into the header.
  ClassNumber Classify(IncomingRequest* request) const;
  // Answers with `status`. `taken.method` is null if the method is unknown.
  void Refuse(Taken&& taken, const Status& status);
  // The error for a request that would wait too long.
  Status TooLate() const;
  bool TryRunInPlace(Taken& taken);
  void Enqueue(Taken&& taken);
  void StartWaiting();
  // The next work for a free thread: at most one of `returning`, `event` and `next` is set.
  struct Turn {
    OneShotEvent* returning = nullptr;
    Event event;
    std::optional<Taken> next;
    NodeLoop* worker = nullptr;  // runs `event` or `next`
    std::vector<Taken> dropped;
  };
  Turn NextTurn();
  void PickNext(Turn* turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool PopReturning(Turn* turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a thread of the pool for a request of the class; nullopt: for an event.
  void AcquireThread(std::optional<ClassNumber> service_class)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the worker loop for the next request or event (round robin).
  NodeLoop& NextWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FreeThread(std::optional<ClassNumber> service_class);
  // Parks until a request that was outside of the pool has a thread of the pool again.
  void ReturnToPool(ClassNumber service_class);
  void StartEvent(NodeLoop& worker, Event event);
  void StartOn(NodeLoop& worker, Taken taken);
  // Serves a request of the pool, under the time limit if there is one and the method may be ended
  // early.
  void ServeLong(Taken taken);
  // Runs the method and sends its answer; returns the end time of the method. `is_long`: on the
  // pool.
  TimePoint Serve(Taken taken, TimePoint begin, bool is_long,
                  const LimitedRequest* limited = nullptr);
  // Runs the method on the request's payload and returns its status.
  static Status Run(Taken* taken, bool is_long, RequestContext* context, Data* output,
                    Duration* processor);
  void BeginStream(Taken&& taken);
  void ServeStream(Taken taken);
  RequestContext ContextOf(const IncomingRequest& request, const MethodEntry& method) const;
  ResponseHeader Conclude(const Taken& taken, const RequestContext& context, const Served& served);
  // Reports the times of a request that ran to the scheduler and the statistics.
  void CountRan(const Taken& taken, const Served& served);
  // Status for a request that was ended early without a result.
  Status EndedEarly(const Served& served) const;
  Status AddLimitMetrics(const MetricLabels& labels);
  // Only if there is more than one class.
  Status AddShareGauges();
  // Updates the time limit's oldest waiting request. Called after each change of the queue or of
  // handed_over_.
  void TellOldestWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes a request from handed_over_ because it begins or was refused.
  void TakenOver(TimePoint received);
  void DropCancelled(RequestTicket ticket);

  const ServiceName service_;
  const std::vector<PartitionId> partitions_;
  NodeLoops& loops_;
  OperatorRegistry& operators_;
  MetricsRegistry& metrics_;
  SpanLog& spans_;
  const ServiceHostOptions options_;
  std::optional<TimeLimit> time_limit_;
  std::unique_ptr<ServiceModule> module_;
  bool reduces_streams_ = false;
  std::map<std::string, std::unique_ptr<MethodEntry>, std::less<>> methods_;  // fixed after Start
  std::vector<CallbackGauge> gauges_;
  // Counts resources that requests held when they were ended early and released by their end, by
  // HeldKind. Set under a time limit only.
  std::array<Counter*, kHeldKinds.size()> released_{};

  std::atomic<uint32_t> load_{0};
  std::atomic<uint32_t> short_count_{0};
  std::atomic<uint32_t> stream_count_{0};
  std::atomic<uint32_t> next_stream_worker_{0};
  std::atomic<uint32_t> waiting_count_{0};
  // Time since which requests wait for a thread of the pool and none was freed; 0: none waits. A
  // caller that gives up does not count as progress.
  std::atomic<int64_t> starving_since_ns_{0};
  // Time since which every thread is taken and none was freed; kThreadsFree while one is free.
  std::atomic<int64_t> threads_taken_since_ns_{kThreadsFree};
  std::unique_ptr<ClassStatistics> class_statistics_;  // after Start

  mutable LeafMutex mutex_;
  ClassScheduler scheduler_ ABSL_GUARDED_BY(mutex_);
  ClassThreads threads_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<RequestTicket, Taken> waiting_ ABSL_GUARDED_BY(mutex_);
  RequestTicket next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
  // Requests that were outside of the pool and wait to return. They go ahead of events and of
  // requests that have not begun.
  struct Returning {
    ClassNumber service_class = 0;
    OneShotEvent* turn = nullptr;
  };
  std::deque<Returning> returning_ ABSL_GUARDED_BY(mutex_);
  // Arrival times of requests that have a thread of the pool but wait for their busy worker loop;
  // at most one per thread. Used under a time limit only.
  std::vector<TimePoint> handed_over_ ABSL_GUARDED_BY(mutex_);
  size_t next_worker_ ABSL_GUARDED_BY(mutex_) = 0;
  // False once the host is destroyed. Shared with callbacks that may outlive the host.
  const std::shared_ptr<std::atomic<bool>> alive_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace neptune
