// The serving half of one module on one node: registered methods, class queues, worker pool.
//
//   request ─► method known? partition here? deadline ahead? ─► its class
//              short and nothing waits: runs at once on the loop that read it ────────────┐
//              else: the queue of its class (bounded) ─► scheduler, a free thread ─► pool ┴─► answer
//
// Source: [Shen02] 2.2 (request dispatcher, request queue, worker pool), 4.4 (class queues, scheduling).
// Streams do not pass the queue: each has a user-level thread of its own while it is open, counts one in the
// load index, and is refused over their bound.
//
// Departs from source: workers are user-level threads; a thread of the pool is a place among those that run at once.
//
// Threads: Dispatch on any serving loop; load_index and Describe from any thread.
// Errors, as answers: kUnimplemented unknown method; kInvalidArgument a write called as a read;
//   kUnavailable the partition is not here; kResourceExhausted the queue of its class is full, or too long
//   for it to yield anything; kDeadlineExceeded the deadline passed before the request ran; kInternal the method threw.
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
  // Classes, and the order in which what waits is served. Default: one class, first come, first served.
  SchedulerOptions scheduling = {.policy = SchedulingPolicy::kFifo, .drop_share = std::nullopt};
  // Which class requests are of that name none, or whatever they name.
  std::vector<ClassRule> class_rules = {};
  // How many long requests run at once, the main pool, and which of them are of which class. What a request waits for in a
  // capsule, it waits for outside of the pool. Default: 8.
  ThreadShares threads = {};
  // Requests keep their place in the pool while they wait, as with a pool of threads without capsules. For experiments
  // only.
  bool waits_inside = false;
  // Most short requests that are on user-level threads at once. Default: 1,024.
  size_t short_count_max = 1024;
  // Most streams that are open at once; one more is refused. Larger: more memory that slow readers may
  // hold. Default: 256.
  size_t stream_count_max = 256;
  // Count and time requests by method. Off: /metrics does not know them, and a call costs a little less.
  // Default: on.
  bool with_statistics = true;
  // Ends long requests of the pool early while many are lost, where their methods read only and are stateless.
  // Default: none is.
  std::optional<TimeLimitOptions> time_limit;
  // A host that has let requests wait this long while none of its pool finished no longer announces itself.
  // Larger: a service of long requests is left alone, a hung one is called longer. Default: 1.5 s, many
  // times what a request of a search takes, so that a hung node is out within 2 s.
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

  // Takes a request from a serving loop.
  void Dispatch(IncomingRequest&& request);

  // Runs `event` on the module's pool, as requests are run, but before all that wait: it ends something that
  // has begun. It is told OK, on a user-level thread, or on the loop why there is none. Their number is not
  // bounded: who posts events bounds what begins them. Any loop.
  using Event = absl::AnyInvocable<void(const Status&)>;
  void RunEvent(Event event);

  // Active and queued requests.
  uint32_t load_index() const { return load_.load(std::memory_order_relaxed); }
  // What to announce now: healthy partitions, none while stalled.
  HostedService Describe(TimePoint now) const;
  bool Stalled(TimePoint now) const;
  // Null: requests are not ended early.
  const TimeLimit* time_limit() const { return time_limit_ ? &*time_limit_ : nullptr; }
  // How long nothing has finished while every thread for long requests is taken; zero while one is free.
  Duration Silence(TimePoint now) const;

  const ServiceName& service() const { return service_; }
  const std::vector<PartitionId>& partitions() const { return partitions_; }
  std::string implementation() const { return module_ == nullptr ? "" : module_->implementation(); }
  size_t queue_length() const;

  // Other numbers of threads from now on; what runs, goes on. Any thread. Errors: kInvalidArgument as CheckThreadShares.
  Status SetThreads(const ThreadShares& shares);
  ThreadShares threads() const;
  // By number of class. Any thread.
  struct ClassState {
    std::string name;
    std::optional<size_t> own_threads;
    size_t busy_count = 0;
    size_t waiting_count = 0;
    size_t queue_length_max = 0;
    double guarantee = 0;
    double share = 0;  // of what all classes consumed lately
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
  // Whether the module registered an operator that reduces streams.
  bool reduces_streams() const { return reduces_streams_; }

 private:
  struct MethodEntry;
  class PoolPlace;
  // A request that is taken, with what it asks for and whose it is.
  struct Taken {
    IncomingRequest request;
    const MethodEntry* method = nullptr;
    ClassNumber service_class = 0;
  };
  // What became of a request, for its statistics, its span and its answer.
  struct Served {
    TimePoint begin;
    TimePoint end;
    Duration processor{0};
    Status status;
  };

  MethodEntry& Register(const MethodName& name, const MethodOptions& options);
  // What threads_taken_since_ns_ is while a thread is free.
  static constexpr int64_t kThreadsFree = -1;

  bool Healthy(PartitionId partition) const;
  // Of this service and of the node.
  void CountLoad(int requests);
  const MethodEntry* Find(const IncomingRequest& request, Status* why) const;
  // The class that it is of; the request names it from now on.
  ClassNumber Classify(IncomingRequest* request) const;
  // `taken`: its method is null where nothing is known of it.
  void Refuse(Taken&& taken, const Status& status);
  // Why a request is refused that would wait too long.
  Status TooLate() const;
  bool TryRunInPlace(Taken& taken);
  void Enqueue(Taken&& taken);
  void StartWaiting();
  // What to do next on a free thread; one of the three, or nothing.
  struct Turn {
    OneShotEvent* returning = nullptr;
    Event event;
    std::optional<Taken> next;
    NodeLoop* worker = nullptr;  // where the latter two run
    std::vector<Taken> dropped;
  };
  Turn NextTurn();
  void PickNext(Turn* turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool PopReturning(Turn* turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of a class, or, without one, for an event.
  void AcquireThread(std::optional<ClassNumber> service_class)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Where what runs next runs.
  NodeLoop& NextWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FreeThread(std::optional<ClassNumber> service_class);
  // For a request that was outside of the pool: parks until it has a thread of the pool again.
  void ReturnToPool(ClassNumber service_class);
  void StartEvent(NodeLoop& worker, Event event);
  void StartOn(NodeLoop& worker, Taken taken);
  // On the pool: under the limit, if there is one and the method may be ended early.
  void ServeLong(Taken taken);
  // Returns when the method ended. `is_long`: it ran on the pool.
  TimePoint Serve(Taken taken, TimePoint begin, bool is_long,
                  const LimitedRequest* limited = nullptr);
  // Runs the method on the request's payload; returns what it returned.
  static Status Run(Taken* taken, bool is_long, RequestContext* context, Data* output,
                    Duration* processor);
  void BeginStream(Taken&& taken);
  void ServeStream(Taken taken);
  RequestContext ContextOf(const IncomingRequest& request, const MethodEntry& method) const;
  ResponseHeader Conclude(const Taken& taken, const RequestContext& context, const Served& served);
  // For scheduling and for statistics.
  void CountRan(const Taken& taken, const Served& served);
  // What a request's caller is told that has no answer because it was ended early.
  Status EndedEarly(const Served& served) const;
  Status AddLimitMetrics(const MetricLabels& labels);
  // Where there are several classes.
  Status AddShareGauges();
  // After each change of the queue or of handed_over_.
  void TellOldestWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A request that was handed over begins, or was refused.
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
  // What requests held when they were ended early and gave back by their end, by HeldKind; under a limit only.
  std::array<Counter*, kHeldKinds.size()> released_{};

  std::atomic<uint32_t> load_{0};
  std::atomic<uint32_t> short_count_{0};
  std::atomic<uint32_t> stream_count_{0};
  std::atomic<uint32_t> next_stream_worker_{0};
  std::atomic<uint32_t> waiting_count_{0};
  // Since when requests wait for a thread of the pool and none was freed; 0: none had to wait since the last.
  // That a caller gives up is no progress.
  std::atomic<int64_t> starving_since_ns_{0};
  // Since when every thread is taken and none was freed; kThreadsFree while one is free.
  std::atomic<int64_t> threads_taken_since_ns_{kThreadsFree};
  std::unique_ptr<ClassStatistics> class_statistics_;  // after Start

  mutable LeafMutex mutex_;
  ClassScheduler scheduler_ ABSL_GUARDED_BY(mutex_);
  ClassThreads threads_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<RequestTicket, Taken> waiting_ ABSL_GUARDED_BY(mutex_);
  RequestTicket next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
  // Requests that were outside of the pool and want in again: before events, and before requests that have not begun.
  struct Returning {
    ClassNumber service_class = 0;
    OneShotEvent* turn = nullptr;
  };
  std::deque<Returning> returning_ ABSL_GUARDED_BY(mutex_);
  // When those came that have a thread and wait for a worker loop that is at work, as many as have threads at most; under
  // a time limit only.
  std::vector<TimePoint> handed_over_ ABSL_GUARDED_BY(mutex_);
  size_t next_worker_ ABSL_GUARDED_BY(mutex_) = 0;
  // Cancelled calls may outlive the host; they look at it through this.
  const std::shared_ptr<std::atomic<bool>> alive_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace neptune
