#include "neptune/service/service_host.h"

#include <glog/logging.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/service/operator_registry.h"

namespace neptune {

TimePoint RequestContext::Now() const { return Loop::Current()->Now(); }

namespace {

// Runs what a service programmer wrote; an exception becomes kInternal.
template <typename Function>
Status WithoutExceptions(std::string_view what, Function&& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    return Internal(what, " threw: ", error.what());
  } catch (...) {
    return Internal(what, " threw");
  }
}

}  // namespace

// A registered method with its statistics.
struct ServiceHost::MethodEntry {
  std::string name;
  MethodOptions options;
  MethodFunction function;
  // Counters by outcome, fixed when the method is registered.
  Counter* ok = nullptr;
  Counter* refused = nullptr;
  Counter* expired = nullptr;
  Counter* cancelled = nullptr;
  Counter* failed = nullptr;
  HistogramMetric* queue_time = nullptr;
  HistogramMetric* run_time = nullptr;

  Counter& ForStatus(const Status& status) const {
    switch (status.code()) {
      case StatusCode::kOk:
        return *ok;
      case StatusCode::kResourceExhausted:
        return *refused;
      case StatusCode::kDeadlineExceeded:
        return *expired;
      case StatusCode::kCancelled:
        return *cancelled;
      default:
        return *failed;
    }
  }
};

ServiceHost::ServiceHost(ServiceName service, std::vector<PartitionId> partitions, NodeLoops& loops,
                         OperatorRegistry& operators, MetricsRegistry& metrics,
                         const ServiceHostOptions& options)
    : service_(std::move(service)),
      partitions_(std::move(partitions)),
      loops_(loops),
      operators_(operators),
      metrics_(metrics),
      options_(options),
      queue_(options.queue) {}

ServiceHost::~ServiceHost() { *alive_ = false; }

Status ServiceHost::Start(std::unique_ptr<ServiceModule> module, ModuleContext& context) {
  const MetricLabels labels = {{"service", service_.value()}};
  NEPTUNE_ASSIGN_OR_RETURN(
      auto load, metrics_.AddCallbackGauge("neptune_load_index", "Active and queued requests.",
                                           labels, [this] { return load_index(); }));
  NEPTUNE_ASSIGN_OR_RETURN(
      auto queued,
      metrics_.AddCallbackGauge("neptune_queue_length", "Requests that wait for a slot.", labels,
                                [this] { return waiting_count_.load(); }));
  gauges_.push_back(std::move(load));
  gauges_.push_back(std::move(queued));
  module_ = std::move(module);
  return Annotate(WithoutExceptions("the module", [&] { return module_->Start(context); }),
                  StrCat("starting service ", service_));
}

void ServiceHost::Stop() {
  if (module_ == nullptr) return;
  const Status status = WithoutExceptions("the module", [&] {
    module_->Stop();
    return OkStatus();
  });
  LOG_IF(ERROR, !status.ok()) << "stopping service " << service_ << ": " << status;
}

void ServiceHost::Method(const MethodName& name, const MethodOptions& options,
                         MethodFunction function) {
  CHECK(options.access == AccessMode::kRead || !options.stateless)
      << "method " << name << " writes and so cannot be stateless";
  auto entry = std::make_unique<MethodEntry>();
  entry->name = name.value();
  entry->options = options;
  entry->function = std::move(function);
  const auto count = [&](const char* outcome) {
    auto counter = metrics_.AddCounter(
        "neptune_requests_total", "Requests served, by outcome.",
        {{"service", service_.value()}, {"method", name.value()}, {"outcome", outcome}});
    CHECK(counter.ok()) << counter.status();
    return *counter;
  };
  entry->ok = count("ok");
  entry->refused = count("refused");
  entry->expired = count("expired");
  entry->cancelled = count("cancelled");
  entry->failed = count("failed");
  const auto time = [&](const char* metric, const char* help) {
    auto histogram = metrics_.AddHistogram(
        metric, help, {{"service", service_.value()}, {"method", name.value()}});
    CHECK(histogram.ok()) << histogram.status();
    return *histogram;
  };
  entry->queue_time =
      time("neptune_queue_seconds", "Time from arrival to the start of the method.");
  entry->run_time = time("neptune_run_seconds", "Time that the method ran or waited inside.");
  CHECK(methods_.emplace(name.value(), std::move(entry)).second)
      << "method " << name << " registered twice";
}

void ServiceHost::Reduce(const MethodName& name, ReduceOperator reduce) {
  operators_.Register(name, std::move(reduce));
}

const ServiceHost::MethodEntry* ServiceHost::Find(const IncomingRequest& request,
                                                  Status* why) const {
  const RequestHeader& header = request.header;
  const auto found = methods_.find(header.method.value());
  if (found == methods_.end()) {
    *why = Unimplemented("service ", service_, " has no method '", header.method, "'");
    return nullptr;
  }
  const MethodEntry& method = *found->second;
  if (method.options.access == AccessMode::kWrite && header.access == AccessMode::kRead) {
    *why = InvalidArgument("method ", header.method, " writes and was called as a read");
  } else if (std::find(partitions_.begin(), partitions_.end(), header.partition) ==
             partitions_.end()) {
    *why = Unavailable("partition ", header.partition, " of ", service_, " is not on this node");
  } else if (request.deadline <= Loop::Current()->Now()) {
    *why = DeadlineExceeded("the request arrived after its deadline");
  }
  return &method;
}

void ServiceHost::Dispatch(IncomingRequest request) {
  Status why;
  const MethodEntry* const method = Find(request, &why);
  if (!why.ok()) return Refuse(std::move(request), why, method);
  ++load_;
  if (method->options.grain == Grain::kShort && TryRunInPlace(request, *method)) return;
  Enqueue(std::move(request), *method);
}

void ServiceHost::Refuse(IncomingRequest request, const Status& status, const MethodEntry* method) {
  if (method != nullptr) method->ForStatus(status).Increment();
  ResponseHeader header;
  header.status = status;
  header.load_index = load_index();
  request.reply.Send(header, "");
}

bool ServiceHost::TryRunInPlace(IncomingRequest& request, const MethodEntry& method) {
  if (waiting_count_.load(std::memory_order_relaxed) > 0) return false;
  if (short_count_.fetch_add(1) >= options_.short_count_max) {
    --short_count_;
    return false;
  }
  // The thread's body owns the request only once it runs, so that a refused thread leaves it here.
  IncomingRequest* const source = &request;
  const auto started = loops_.Current().scheduler->RunInPlace([this, source, &method] {
    Serve(std::move(*source), method);
    --short_count_;
  });
  if (!started.ok()) --short_count_;
  return started.ok();
}

void ServiceHost::Enqueue(IncomingRequest request, const MethodEntry& method) {
  const std::shared_ptr<IncomingCall> call = request.call;
  RequestTicket ticket = 0;
  bool refused = false;
  {
    LeafLock lock(&mutex_);
    ticket = next_ticket_++;
    refused =
        !queue_.Push({ticket, request.received, request.deadline, request.header.service_class});
    if (!refused) {
      waiting_.emplace(ticket, Waiting{std::move(request), &method});
      if (waiting_count_.fetch_add(1) == 0) {
        last_progress_ns_ = Loop::Current()->Now().time_since_epoch().count();
      }
    }
  }
  if (refused) {
    --load_;
    return Refuse(std::move(request),
                  ResourceExhausted("the queue of ", service_, " holds ", options_.queue.length_max,
                                    " requests"),
                  &method);
  }
  call->OnCancel([this, ticket, alive = alive_] {
    if (*alive) DropCancelled(ticket);
  });
  StartWaiting();
}

void ServiceHost::DropCancelled(RequestTicket ticket) {
  Waiting dropped;
  {
    LeafLock lock(&mutex_);
    if (!queue_.Remove(ticket)) return;
    auto node = waiting_.extract(ticket);
    dropped = std::move(node.mapped());
    --waiting_count_;
  }
  --load_;
  Refuse(std::move(dropped.request), Cancelled("the caller cancelled"), dropped.method);
}

void ServiceHost::StartWaiting() {
  while (true) {
    std::vector<Waiting> expired;
    Waiting next;
    NodeLoop* worker = nullptr;
    {
      LeafLock lock(&mutex_);
      if (active_count_ >= options_.concurrency) return;
      RequestQueue::Picked picked = queue_.Pick(Loop::Current()->Now());
      for (const WaitingRequest& old : picked.expired) {
        expired.push_back(std::move(waiting_.extract(old.ticket).mapped()));
      }
      waiting_count_ -= static_cast<uint32_t>(expired.size());
      if (picked.next) {
        next = std::move(waiting_.extract(picked.next->ticket).mapped());
        --waiting_count_;
        ++active_count_;
        const std::vector<NodeLoop*>& workers = loops_.workers();
        worker = workers[next_worker_++ % workers.size()];
      }
    }
    for (Waiting& late : expired) {
      --load_;
      Refuse(std::move(late.request), DeadlineExceeded("the deadline passed in the queue"),
             late.method);
    }
    if (worker == nullptr) return;
    StartOn(*worker, std::move(next.request), *next.method);
  }
}

void ServiceHost::StartOn(NodeLoop& worker, IncomingRequest request, const MethodEntry& method) {
  worker.loop->Post([this, &worker, &method, request = std::move(request)]() mutable {
    IncomingRequest* const source = &request;
    const auto finish = [this] {
      {
        LeafLock lock(&mutex_);
        --active_count_;
      }
      StartWaiting();
    };
    const auto started = worker.scheduler->RunInPlace([this, source, &method, finish] {
      Serve(std::move(*source), method);
      finish();
    });
    if (started.ok()) return;
    --load_;
    Refuse(std::move(request), started.status(), &method);
    finish();
  });
}

void ServiceHost::Serve(IncomingRequest request, const MethodEntry& method) {
  Loop& loop = *Loop::Current();
  const TimePoint begin = loop.Now();
  RequestContext context(request.header.partition, request.deadline, request.header.service_class,
                         request.header.trace, request.call, loops_.world());
  const Data input(std::move(request.payload));
  Data output;
  Status status;
  if (request.call->cancelled()) {
    status = Cancelled("the caller cancelled");
  } else {
    status =
        WithoutExceptions(method.name, [&] { return method.function(context, input, &output); });
  }
  const TimePoint end = loop.Now();
  last_progress_ns_ = end.time_since_epoch().count();
  method.queue_time->Record(begin - request.received);
  method.run_time->Record(end - begin);
  method.ForStatus(status).Increment();
  --load_;
  ResponseHeader header;
  header.status = status;
  header.queue_time =
      std::chrono::duration_cast<std::chrono::microseconds>(begin - request.received);
  header.run_time = std::chrono::duration_cast<std::chrono::microseconds>(end - begin);
  header.load_index = load_index();
  request.reply.Send(header, status.ok() ? std::move(output).TakeBytes() : std::string());
}

bool ServiceHost::Stalled(TimePoint now) const {
  return waiting_count_ > 0 &&
         now.time_since_epoch().count() - last_progress_ns_ > options_.stall_timeout.count();
}

HostedService ServiceHost::Describe(TimePoint now) const {
  HostedService hosted{service_, 1, implementation(), {}};
  if (module_ == nullptr || Stalled(now)) return hosted;
  for (const PartitionId& partition : partitions_) {
    if (Healthy(partition)) hosted.partitions.push_back(partition);
  }
  return hosted;
}

bool ServiceHost::Healthy(PartitionId partition) const {
  return WithoutExceptions("Health", [&] { return module_->Health(partition); }).ok();
}

size_t ServiceHost::queue_length() const { return waiting_count_; }

}  // namespace neptune
