#include "neptune/service/service_host.h"

#include <glog/logging.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/main_pool.h"
#include "neptune/service/compute.h"
#include "neptune/service/operator_registry.h"
#include "neptune/thread/work_meter.h"

namespace neptune {

TimePoint RequestContext::Now() const { return Loop::Current()->Now(); }

Status RequestContext::SleepUntil(TimePoint when) const {
  const CancelAction wake_me(call_.get(),
                             [self = ThreadRef(UserThread::Current())] { self->Wake(); });
  while (Now() < when) {
    if (call_ != nullptr && call_->cancelled()) return Cancelled("the caller is gone");
    if (Now() >= deadline_) return DeadlineExceeded("the deadline of the request");
    if (this_thread::Park(std::min(when, deadline_)) == ParkResult::kStopping) {
      return Cancelled("the node stops");
    }
  }
  return OkStatus();
}

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
  uint64_t number = 0;  // of its service and name
  MethodOptions options;
  MethodFunction function;         // of a call
  StreamFunction stream_function;  // of a stream; one of the two is set
  // Counters by outcome, fixed when the method is registered.
  Counter* ok = nullptr;
  Counter* refused = nullptr;
  Counter* expired = nullptr;
  Counter* cancelled = nullptr;
  Counter* failed = nullptr;
  // Of all outcomes: those that were told to stop because they took too long.
  Counter* ended_early = nullptr;
  HistogramMetric* queue_time = nullptr;
  HistogramMetric* run_time = nullptr;
  // Of a stream's messages.
  Counter* messages_read = nullptr;
  Counter* messages_written = nullptr;

  bool streams() const { return stream_function != nullptr; }
  bool may_be_ended_early() const {
    return options.access == AccessMode::kRead && options.stateless;
  }
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
                         OperatorRegistry& operators, MetricsRegistry& metrics, SpanLog& spans,
                         const ServiceHostOptions& options)
    : service_(std::move(service)),
      partitions_(std::move(partitions)),
      loops_(loops),
      operators_(operators),
      metrics_(metrics),
      spans_(spans),
      options_(options),
      queue_(options.queue) {
  if (options.time_limit) time_limit_.emplace(*options.time_limit);
}

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
  if (time_limit_) NEPTUNE_RETURN_IF_ERROR(AddLimitGauges(labels));
  module_ = std::move(module);
  return Annotate(WithoutExceptions("the module", [&] { return module_->Start(context); }),
                  StrCat("starting service ", service_));
}

Status ServiceHost::AddLimitGauges(const MetricLabels& labels) {
  NEPTUNE_ASSIGN_OR_RETURN(
      auto limit,
      metrics_.AddCallbackGauge("neptune_time_limit_seconds", "What a request may take at present.",
                                labels, [this] { return ToSeconds(time_limit_->threshold()); }));
  gauges_.push_back(std::move(limit));
  return OkStatus();
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
  Register(name, options).function = std::move(function);
}

void ServiceHost::Stream(const MethodName& name, const MethodOptions& options,
                         StreamFunction function) {
  CHECK(options.access == AccessMode::kRead) << "stream method " << name << " writes";
  MethodEntry& entry = Register(name, options);
  entry.stream_function = std::move(function);
  const auto count = [&](const char* direction) {
    auto counter = metrics_.AddCounter(
        "neptune_stream_messages_total", "Messages of streams, by direction.",
        {{"service", service_.value()}, {"method", name.value()}, {"direction", direction}});
    CHECK(counter.ok()) << counter.status();
    return *counter;
  };
  entry.messages_read = count("read");
  entry.messages_written = count("written");
}

ServiceHost::MethodEntry& ServiceHost::Register(const MethodName& name,
                                                const MethodOptions& options) {
  CHECK(options.access == AccessMode::kRead || !options.stateless)
      << "method " << name << " writes and so cannot be stateless";
  auto entry = std::make_unique<MethodEntry>();
  entry->name = name.value();
  entry->number = Checksum64(name.value(), Checksum64(service_.value()));
  entry->options = options;
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
  auto ended_early = metrics_.AddCounter("neptune_requests_ended_early_total",
                                         "Requests told to stop because they took too long.",
                                         {{"service", service_.value()}, {"method", name.value()}});
  CHECK(ended_early.ok()) << ended_early.status();
  entry->ended_early = *ended_early;
  const auto time = [&](const char* metric, const char* help) {
    auto histogram = metrics_.AddHistogram(
        metric, help, {{"service", service_.value()}, {"method", name.value()}});
    CHECK(histogram.ok()) << histogram.status();
    return *histogram;
  };
  entry->queue_time =
      time("neptune_queue_seconds", "Time from arrival to the start of the method.");
  entry->run_time = time("neptune_run_seconds", "Time that the method ran or waited inside.");
  const auto [added, is_new] = methods_.emplace(name.value(), std::move(entry));
  CHECK(is_new) << "method " << name << " registered twice";
  return *added->second;
}

void ServiceHost::Reduce(const MethodName& name, const ReduceOptions& options,
                         ReduceOperator reduce) {
  operators_.Register(name, options, std::move(reduce));
}

void ServiceHost::ReduceStream(const MethodName& name, StreamReduceOperator reduce) {
  reduces_streams_ = true;
  operators_.RegisterStream(name, std::move(reduce));
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
  } else if (method.streams() != header.stream) {
    *why = InvalidArgument(
        "method ", header.method,
        method.streams() ? " is a stream and was called" : " is no stream and was opened as one");
  } else if (std::find(partitions_.begin(), partitions_.end(), header.partition) ==
             partitions_.end()) {
    *why = Unavailable("partition ", header.partition, " of ", service_, " is not on this node");
  } else if (request.deadline <= request.received) {
    *why = DeadlineExceeded("the request arrived after its deadline");
  }
  return &method;
}

void ServiceHost::Dispatch(IncomingRequest&& request) {
  Status why;
  const MethodEntry* const method = Find(request, &why);
  if (!why.ok()) return Refuse(std::move(request), why, method);
  if (method->streams()) return BeginStream(std::move(request), *method);
  CountLoad(1);
  if (method->options.grain == Grain::kShort && TryRunInPlace(request, *method)) return;
  Enqueue(std::move(request), *method);
}

void ServiceHost::Refuse(IncomingRequest&& request, const Status& status,
                         const MethodEntry* method) {
  if (method != nullptr) method->ForStatus(status).Increment();
  ResponseHeader header;
  header.status = status;
  header.load_index = loops_.load_index();
  request.reply.Send(header, "");
}

bool ServiceHost::TryRunInPlace(IncomingRequest& request, const MethodEntry& method) {
  if (waiting_count_.load(std::memory_order_relaxed) > 0) return false;
  if (short_count_.fetch_add(1) >= options_.short_count_max) {
    --short_count_;
    return false;
  }
  // The thread's body owns the request only once it runs, so that a refused thread leaves it here. One pointer
  // fits into the body without memory of its own; it leads nowhere once the thread has parked.
  NodeLoop& here = loops_.Current();
  struct Start {
    ServiceHost& host;
    NodeLoop& here;
    IncomingRequest& request;
    const MethodEntry& method;
  } start{*this, here, request, method};
  const auto started = here.scheduler->RunInPlace([from = &start] {
    ServiceHost& host = from->host;
    NodeLoop& here = from->here;
    // What arrived with one read runs one after the other: the clock need not be read again.
    const TimePoint begin = std::max(from->request.received, here.in_place_end);
    here.in_place_end = host.Serve(std::move(from->request), from->method, begin);
    --host.short_count_;
  });
  if (!started.ok()) --short_count_;
  return started.ok();
}

void ServiceHost::Enqueue(IncomingRequest&& request, const MethodEntry& method) {
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
      TellOldestWaiting();
      ++waiting_count_;
      if (active_count_ >= options_.concurrency && starving_since_ns_ == 0) {
        starving_since_ns_ = Loop::Current()->Now().time_since_epoch().count();
      }
    }
  }
  if (refused) {
    CountLoad(-1);
    if (time_limit_) time_limit_->OnLost(Loop::Current()->Now());
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
    TellOldestWaiting();
    auto node = waiting_.extract(ticket);
    dropped = std::move(node.mapped());
    --waiting_count_;
  }
  CountLoad(-1);
  Refuse(std::move(dropped.request), Cancelled("the caller cancelled"), dropped.method);
}

void ServiceHost::RunEvent(Event event) {
  {
    LeafLock lock(&mutex_);
    events_.push_back(std::move(event));
  }
  CountLoad(1);
  StartWaiting();
}

void ServiceHost::StartWaiting() {
  while (true) {
    std::vector<Waiting> expired;
    Waiting next;
    Event event;
    OneShotEvent* returning = nullptr;
    NodeLoop* worker = nullptr;
    {
      LeafLock lock(&mutex_);
      if (active_count_ >= options_.concurrency) return;
      if (!returning_.empty()) {
        returning = returning_.front();
        returning_.pop_front();
        TakeSlot();
      } else if (!events_.empty()) {
        event = std::move(events_.front());
        events_.pop_front();
        TakeSlot();
        worker = &NextWorker();
      } else {
        RequestQueue::Picked picked = queue_.Pick(Loop::Current()->Now());
        for (const WaitingRequest& old : picked.expired) {
          expired.push_back(std::move(waiting_.extract(old.ticket).mapped()));
        }
        waiting_count_ -= static_cast<uint32_t>(expired.size());
        if (picked.next) {
          next = std::move(waiting_.extract(picked.next->ticket).mapped());
          --waiting_count_;
          TakeSlot();
          worker = &NextWorker();
          if (time_limit_) handed_over_.push_back(next.request.received);
        }
        TellOldestWaiting();
      }
      if (waiting_.empty()) starving_since_ns_ = 0;
    }
    for (Waiting& late : expired) {
      CountLoad(-1);
      if (time_limit_) time_limit_->OnLost(Loop::Current()->Now());
      Refuse(std::move(late.request), DeadlineExceeded("the deadline passed in the queue"),
             late.method);
    }
    if (returning != nullptr) {
      returning->Set();
      continue;
    }
    if (worker == nullptr) return;
    if (event) {
      StartEvent(*worker, std::move(event));
    } else {
      StartOn(*worker, std::move(next.request), *next.method);
    }
  }
}

// The queue may be empty while a worker loop is at work for long and others wait for it.
void ServiceHost::TellOldestWaiting() {
  if (!time_limit_) return;
  TimePoint oldest = queue_.OldestArrival();
  for (const TimePoint received : handed_over_) oldest = std::min(oldest, received);
  time_limit_->SetOldestWaiting(oldest);
}

void ServiceHost::TakenOver(TimePoint received) {
  LeafLock lock(&mutex_);
  const auto found = std::find(handed_over_.begin(), handed_over_.end(), received);
  if (found != handed_over_.end()) handed_over_.erase(found);
  TellOldestWaiting();
}

void ServiceHost::TakeSlot() {
  if (++active_count_ == options_.concurrency) {
    slots_taken_since_ns_ = Loop::Current()->Now().time_since_epoch().count();
  }
}

NodeLoop& ServiceHost::NextWorker() {
  const std::vector<NodeLoop*>& workers = loops_.workers();
  return *workers[next_worker_++ % workers.size()];
}

void ServiceHost::FreeSlot() {
  bool anyone_waits;
  {
    LeafLock lock(&mutex_);
    --active_count_;
    starving_since_ns_ = waiting_.empty() ? 0 : Loop::Current()->Now().time_since_epoch().count();
    slots_taken_since_ns_ = kSlotsFree;
    anyone_waits = !waiting_.empty() || !events_.empty() || !returning_.empty();
  }
  if (anyone_waits) StartWaiting();
}

void ServiceHost::ReturnToPool() {
  {
    LeafLock lock(&mutex_);
    if (active_count_ < options_.concurrency) return TakeSlot();
  }
  OneShotEvent turn;
  {
    LeafLock lock(&mutex_);
    if (active_count_ < options_.concurrency) return TakeSlot();
    returning_.push_back(&turn);
  }
  while (!turn.is_set()) this_thread::ParkUntilWoken();
}

// A long request's slot.
class ServiceHost::PoolPlace final : public MainPoolPlace {
 public:
  explicit PoolPlace(ServiceHost& host) : host_(host) {
    if (!host.options_.waits_inside) MainPoolPlace::SetCurrent(this);
  }
  ~PoolPlace() override {
    MainPoolPlace::SetCurrent(nullptr);
    host_.FreeSlot();
  }

  void GiveBack() override { host_.FreeSlot(); }
  void TakeAgain() override { host_.ReturnToPool(); }

 private:
  ServiceHost& host_;
};

void ServiceHost::StartOn(NodeLoop& worker, IncomingRequest request, const MethodEntry& method) {
  worker.loop->Post([this, &worker, &method, request = std::move(request)]() mutable {
    IncomingRequest* const source = &request;
    const auto started = worker.scheduler->RunInPlace([this, source, &method] {
      const PoolPlace place(*this);
      ServeLong(std::move(*source), method);
    });
    if (started.ok()) return;
    CountLoad(-1);
    if (time_limit_) TakenOver(request.received);
    Refuse(std::move(request), started.status(), &method);
    FreeSlot();
  });
}

void ServiceHost::StartEvent(NodeLoop& worker, Event event) {
  worker.loop->Post([this, &worker, event = std::move(event)]() mutable {
    Event* const source = &event;
    const auto started = worker.scheduler->RunInPlace([this, source] {
      Event mine = std::move(*source);
      mine(OkStatus());
      CountLoad(-1);
      FreeSlot();
    });
    if (started.ok()) return;
    event(started.status());
    CountLoad(-1);
    FreeSlot();
  });
}

void ServiceHost::ServeLong(IncomingRequest request, const MethodEntry& method) {
  Loop& here = *Loop::Current();
  const TimePoint begin = here.Now();
  if (!time_limit_) {
    Serve(std::move(request), method, begin);
    return;
  }
  TakenOver(request.received);
  if (!method.may_be_ended_early()) {
    time_limit_->OnServed(Serve(std::move(request), method, begin));
    return;
  }
  LimitedRequest limited(*time_limit_, here, begin, [call = request.call] { call->Cancel(); });
  SetLimitOfThread(&limited);
  time_limit_->OnServed(Serve(std::move(request), method, begin, &limited));
  SetLimitOfThread(nullptr);
}

TimePoint ServiceHost::Serve(IncomingRequest request, const MethodEntry& method, TimePoint begin,
                             const LimitedRequest* limited) {
  Served served;
  served.begin = begin;
  RequestContext context = ContextOf(request, method);
  context.SetLimited(limited);
  const Data input(std::move(request.payload));
  Data output;
  if (request.call->cancelled()) {
    served.status = Cancelled("the caller cancelled");
  } else if (served.begin >= request.deadline) {
    served.status = DeadlineExceeded("the deadline passed before the request ran");
  } else {
    std::optional<WorkMeter> meter;
    if (request.call->measures_work()) meter.emplace();
    served.status =
        WithoutExceptions(method.name, [&] { return method.function(context, input, &output); });
    if (meter && served.status.ok()) request.call->OnWorked(meter->Read());
  }
  served.end = Loop::Current()->Now();
  if (context.ended_early()) {
    method.ended_early->Increment();
    if (!served.status.ok()) served.status = EndedEarly(served);
  }
  const ResponseHeader header = Conclude(request, method, context, served);
  request.reply.Send(header, served.status.ok() ? std::move(output).TakeBytes() : std::string());
  request.call->OnServed();
  return served.end;
}

Status ServiceHost::EndedEarly(const Served& served) const {
  return DeadlineExceeded("ended early after ", ToMillis(served.end - served.begin),
                          " ms: ", service_, " has no more time for one request now");
}

// What the method calls is a child of the server's span.
RequestContext ServiceHost::ContextOf(const IncomingRequest& request,
                                      const MethodEntry& method) const {
  const TraceContext& from = request.header.trace;
  return RequestContext(request.header.partition, request.deadline, request.header.service_class,
                        from.sampled ? ChildOf(from, Loop::Current()->random()) : from,
                        request.call, loops_.world(),
                        {.handler = method.number, .retried = request.header.retried});
}

ResponseHeader ServiceHost::Conclude(const IncomingRequest& request, const MethodEntry& method,
                                     const RequestContext& context, const Served& served) {
  const Duration queued = served.begin - request.received;
  const Duration ran = served.end - served.begin;
  CountLoad(-1);
  if (options_.with_statistics) {
    method.queue_time->Record(queued);
    method.run_time->Record(ran);
    method.ForStatus(served.status).Increment();
  }
  if (context.trace().sampled) {
    const RequestHeader& asked = request.header;
    spans_.Record({.context = context.trace(),
                   .parent = asked.trace.span,
                   .kind = SpanKind::kServer,
                   .what = StrCat(service_, "/", asked.partition, ".", method.name),
                   .end = loops_.world().wall_time(),
                   .duration = queued + ran,
                   .queue_time = queued,
                   .outcome = served.status.code()});
  }
  ResponseHeader header;
  header.status = served.status;
  header.queue_time = std::chrono::duration_cast<std::chrono::microseconds>(queued);
  header.run_time = std::chrono::duration_cast<std::chrono::microseconds>(ran);
  header.load_index = loops_.load_index();
  return header;
}

void ServiceHost::BeginStream(IncomingRequest&& request, const MethodEntry& method) {
  if (stream_count_.fetch_add(1) >= options_.stream_count_max) {
    --stream_count_;
    return Refuse(
        std::move(request),
        ResourceExhausted(options_.stream_count_max, " streams of ", service_, " are open"),
        &method);
  }
  CountLoad(1);
  const std::vector<NodeLoop*>& workers = loops_.workers();
  NodeLoop& home = method.options.grain == Grain::kShort
                       ? loops_.Current()
                       : *workers[next_stream_worker_.fetch_add(1) % workers.size()];
  home.loop->Post([this, &home, &method, request = std::move(request)]() mutable {
    IncomingRequest* const source = &request;
    const auto started = home.scheduler->RunInPlace([this, source, &method] {
      ServeStream(std::move(*source), method);
      --stream_count_;
    });
    if (started.ok()) return;
    --stream_count_;
    CountLoad(-1);
    Refuse(std::move(request), started.status(), &method);
  });
}

void ServiceHost::ServeStream(IncomingRequest request, const MethodEntry& method) {
  Served served;
  served.begin = Loop::Current()->Now();
  RequestContext context = ContextOf(request, method);
  const Data opening(std::move(request.payload));
  MessageStream& messages = *request.call->stream();
  ServerStream stream(messages, request.deadline);
  served.status = WithoutExceptions(
      method.name, [&] { return method.stream_function(context, opening, stream); });
  served.end = Loop::Current()->Now();
  method.messages_read->Increment(messages.read_count());
  method.messages_written->Increment(messages.written_count());
  request.reply.Send(Conclude(request, method, context, served), "");
}

bool ServiceHost::Stalled(TimePoint now) const {
  const int64_t since = starving_since_ns_;
  return since != 0 && now.time_since_epoch().count() - since > options_.stall_timeout.count();
}

Duration ServiceHost::Silence(TimePoint now) const {
  const int64_t since = slots_taken_since_ns_;
  if (since == kSlotsFree) return Duration(0);
  return now.time_since_epoch() - Duration(since);
}

void ServiceHost::CountLoad(int requests) {
  load_ += static_cast<uint32_t>(requests);
  loops_.CountLoad(requests);
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
