#include "neptune/service/service_host.h"

#include <glog/logging.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"
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
    if (Now() >= deadline_) return DeadlineExceeded("the deadline of the request passed");
    if (this_thread::Park(std::min(when, deadline_)) == ParkResult::kStopping) {
      return Cancelled("the node stops");
    }
  }
  return OkStatus();
}

namespace {

// Runs code of a module; an exception becomes kInternal.
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
  uint64_t number = 0;  // derived from the service and the name; unique on the node
  MethodOptions options;
  // Exactly one of the two is set.
  MethodFunction function;
  StreamFunction stream_function;
  PerOutcome<Counter*> ended;  // fixed when the method is registered
  // Requests of any outcome that exceeded the time limit.
  Counter* ended_early = nullptr;
  HistogramMetric* queue_time = nullptr;
  HistogramMetric* run_time = nullptr;
  // Set for streams only.
  Counter* messages_read = nullptr;
  Counter* messages_written = nullptr;

  bool streams() const { return stream_function != nullptr; }
  bool may_be_ended_early() const {
    return options.access == AccessMode::kRead && options.stateless;
  }
  void CountEnd(const Status& status) const { ended[RequestOutcomeOf(status)]->Increment(); }
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
      scheduler_(options.scheduling),
      threads_(options.threads, options.scheduling.classes.size()) {
  if (options.time_limit) time_limit_.emplace(*options.time_limit);
}

ServiceHost::~ServiceHost() { *alive_ = false; }

Status ServiceHost::Start(std::unique_ptr<ServiceModule> module, ModuleContext& context) {
  const MetricLabels labels = {{"service", service_.value()}};
  NEPTUNE_ASSIGN_OR_RETURN(
      auto load, metrics_.AddCallbackGauge("neptune_load_index", "Active and queued requests.",
                                           labels, [this] { return load_index(); }));
  NEPTUNE_ASSIGN_OR_RETURN(
      auto queued, metrics_.AddCallbackGauge("neptune_queue_length", "Queued requests.", labels,
                                             [this] { return waiting_count_.load(); }));
  gauges_.push_back(std::move(load));
  gauges_.push_back(std::move(queued));
  std::vector<std::string> classes;
  for (const ServiceClassOptions& one : options_.scheduling.classes) classes.push_back(one.name);
  NEPTUNE_ASSIGN_OR_RETURN(class_statistics_,
                           ClassStatistics::Make(metrics_, service_.value(), classes));
  if (time_limit_) NEPTUNE_RETURN_IF_ERROR(AddLimitMetrics(labels));
  NEPTUNE_RETURN_IF_ERROR(AddShareGauges());
  module_ = std::move(module);
  return Annotate(WithoutExceptions("the module", [&] { return module_->Start(context); }),
                  StrCat("starting service ", service_));
}

Status ServiceHost::AddLimitMetrics(const MetricLabels& labels) {
  NEPTUNE_ASSIGN_OR_RETURN(
      auto limit,
      metrics_.AddCallbackGauge("neptune_time_limit_seconds", "Current time limit of a request.",
                                labels, [this] { return ToSeconds(time_limit_->threshold()); }));
  gauges_.push_back(std::move(limit));
  for (const HeldKind kind : kHeldKinds) {
    MetricLabels of_kind = labels;
    of_kind.emplace_back("held", Name(kind));
    NEPTUNE_ASSIGN_OR_RETURN(
        released_[static_cast<size_t>(kind)],
        metrics_.AddCounter("neptune_ended_early_released_total",
                            "Resources released by requests that were ended early.", of_kind));
  }
  return OkStatus();
}

Status ServiceHost::AddShareGauges() {
  const std::vector<ServiceClassOptions>& classes = options_.scheduling.classes;
  for (ClassNumber number = 0; classes.size() > 1 && number < classes.size(); ++number) {
    NEPTUNE_ASSIGN_OR_RETURN(
        auto share,
        metrics_.AddCallbackGauge(
            "neptune_class_share", "Share of the recent consumption of all classes.",
            {{"service", service_.value()}, {"class", classes[number].name}}, [this, number] {
              LeafLock lock(&mutex_);
              return scheduler_.ShareOf(number);
            }));
    gauges_.push_back(std::move(share));
  }
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
  PerOutcome<Counter*>::ForEach([&](RequestOutcome outcome, std::string_view what) {
    auto counter = metrics_.AddCounter(
        "neptune_requests_total", "Requests served, by outcome.",
        {{"service", service_.value()}, {"method", name.value()}, {"outcome", std::string(what)}});
    CHECK(counter.ok()) << counter.status();
    entry->ended[outcome] = *counter;
  });
  auto ended_early = metrics_.AddCounter("neptune_requests_ended_early_total",
                                         "Requests stopped because they exceeded the time limit.",
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
  entry->run_time = time("neptune_run_seconds", "Run time of the method, including its waits.");
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
    *why = InvalidArgument("method ", header.method,
                           method.streams() ? " is a stream and was called"
                                            : " is not a stream and was opened as one");
  } else if (std::find(partitions_.begin(), partitions_.end(), header.partition) ==
             partitions_.end()) {
    *why = Unavailable("partition ", header.partition, " of ", service_, " is not on this node");
  } else if (request.deadline <= request.received) {
    *why = DeadlineExceeded("the request arrived after its deadline");
  }
  return &method;
}

ClassNumber ServiceHost::Classify(IncomingRequest* request) const {
  const std::vector<ServiceClassOptions>& classes = options_.scheduling.classes;
  if (classes.size() == 1) return 0;
  RequestHeader& header = request->header;
  const std::optional<ClassNumber> named = FindClass(options_.scheduling, header.service_class);
  const ClassNumber found =
      ClassByRules(options_.class_rules, header.method.value(), header.partition, named,
                   options_.scheduling.default_class);
  if (found != named) header.service_class = classes[found].name;
  return found;
}

void ServiceHost::Dispatch(IncomingRequest&& request) {
  Status why;
  Taken taken{.request = std::move(request)};
  taken.method = Find(taken.request, &why);
  taken.service_class = Classify(&taken.request);
  if (options_.with_statistics) class_statistics_->OnArrival(taken.service_class);
  if (!why.ok()) return Refuse(std::move(taken), why);
  if (time_limit_) time_limit_->OnArrival(taken.request.received, taken.request.header.waited);
  if (taken.method->streams()) return BeginStream(std::move(taken));
  CountLoad(1);
  if (taken.method->options.grain == Grain::kShort && TryRunInPlace(taken)) return;
  Enqueue(std::move(taken));
}

void ServiceHost::Refuse(Taken&& taken, const Status& status) {
  if (taken.method != nullptr) taken.method->CountEnd(status);
  if (options_.with_statistics) class_statistics_->OnEnd(taken.service_class, status);
  ResponseHeader header;
  header.status = status;
  header.load_index = loops_.load_index();
  taken.request.reply.Send(header, "");
}

bool ServiceHost::TryRunInPlace(Taken& taken) {
  if (waiting_count_.load(std::memory_order_relaxed) > 0) return false;
  if (short_count_.fetch_add(1) >= options_.short_count_max) {
    --short_count_;
    return false;
  }
  // The closure takes the request only when it runs, so that the request stays here if no thread
  // can be started. It captures one pointer so that it needs no allocation; the pointer dangles
  // after the first park and must not be used then.
  NodeLoop& here = loops_.Current();
  struct Start {
    ServiceHost& host;
    NodeLoop& here;
    Taken& taken;
  } start{*this, here, taken};
  const auto started = here.scheduler->RunInPlace([from = &start] {
    ServiceHost& host = from->host;
    NodeLoop& here = from->here;
    // Requests that arrived with one read run one after the other, so the end of the previous one
    // is the begin of this one, and a clock read is saved.
    const TimePoint begin = std::max(from->taken.request.received, here.in_place_end);
    here.in_place_end = host.Serve(std::move(from->taken), begin, false);
    --host.short_count_;
  });
  if (!started.ok()) --short_count_;
  return started.ok();
}

void ServiceHost::Enqueue(Taken&& taken) {
  const std::shared_ptr<IncomingCall> call = taken.request.call;
  const ClassNumber service_class = taken.service_class;
  RequestTicket ticket = 0;
  auto entry = ClassScheduler::Entry::kTaken;
  {
    LeafLock lock(&mutex_);
    ticket = next_ticket_++;
    entry =
        scheduler_.Push({ticket, taken.request.received, taken.request.deadline, service_class});
    if (entry == ClassScheduler::Entry::kTaken) {
      waiting_.emplace(ticket, std::move(taken));
      TellOldestWaiting();
      ++waiting_count_;
      if (!threads_.HasFree(service_class) && starving_since_ns_ == 0) {
        starving_since_ns_ = Loop::Current()->Now().time_since_epoch().count();
      }
    }
  }
  if (entry != ClassScheduler::Entry::kTaken) {
    CountLoad(-1);
    if (time_limit_) time_limit_->OnLost(Loop::Current()->Now());
    const ServiceClassOptions& full = options_.scheduling.classes[service_class];
    return Refuse(std::move(taken),
                  entry == ClassScheduler::Entry::kWaitTooLong
                      ? TooLate()
                      : ResourceExhausted("the queue of ", service_, " for class ", full.name,
                                          " holds ", full.queue_length_max, " requests"));
  }
  call->OnCancel([this, ticket, alive = alive_] {
    if (*alive) DropCancelled(ticket);
  });
  StartWaiting();
}

Status ServiceHost::TooLate() const {
  return ResourceExhausted("the queue of ", service_,
                           " is too long: the request would finish too late");
}

void ServiceHost::DropCancelled(RequestTicket ticket) {
  Taken dropped;
  {
    LeafLock lock(&mutex_);
    if (!scheduler_.Remove(ticket)) return;
    TellOldestWaiting();
    auto node = waiting_.extract(ticket);
    dropped = std::move(node.mapped());
    --waiting_count_;
  }
  CountLoad(-1);
  Refuse(std::move(dropped), Cancelled("the caller cancelled"));
}

void ServiceHost::ServeLong(Taken taken) {
  Loop& here = *Loop::Current();
  const TimePoint begin = here.Now();
  if (!time_limit_) {
    Serve(std::move(taken), begin, true);
    return;
  }
  TakenOver(taken.request.received);
  if (!taken.method->may_be_ended_early()) {
    time_limit_->OnServed(Serve(std::move(taken), begin, true));
    return;
  }
  const std::shared_ptr<IncomingCall> call = taken.request.call;
  std::array<int, kHeldKinds.size()> held{};  // when the request was ended early
  LimitedRequest limited(*time_limit_, here, begin, [&] {
    for (const HeldKind kind : kHeldKinds) {
      held[static_cast<size_t>(kind)] = call->holdings().count(kind);
    }
    call->Cancel();
  });
  SetLimitOfThread(&limited);
  time_limit_->OnServed(Serve(std::move(taken), begin, true, &limited));
  SetLimitOfThread(nullptr);
  for (const HeldKind kind : kHeldKinds) {
    const int given_back = held[static_cast<size_t>(kind)] - call->holdings().count(kind);
    if (given_back > 0) released_[static_cast<size_t>(kind)]->Increment(given_back);
  }
}

Status ServiceHost::Run(Taken* taken, bool is_long, RequestContext* context, Data* output,
                        Duration* processor) {
  const MethodEntry& method = *taken->method;
  const Data input(std::move(taken->request.payload));
  IncomingCall& call = *taken->request.call;
  std::optional<WorkMeter> meter;
  if (is_long || call.measures_work()) meter.emplace();
  const Status status =
      WithoutExceptions(method.name, [&] { return method.function(*context, input, output); });
  if (!meter) return status;
  *processor = meter->Read();
  if (call.measures_work() && status.ok()) call.OnWorked(*processor);
  return status;
}

TimePoint ServiceHost::Serve(Taken taken, TimePoint begin, bool is_long,
                             const LimitedRequest* limited) {
  Served served;
  served.begin = begin;
  IncomingRequest& request = taken.request;
  RequestContext context = ContextOf(request, *taken.method);
  context.SetLimited(limited);
  Data output;
  const bool ran = !request.call->cancelled() && served.begin < request.deadline;
  if (ran) {
    served.status = Run(&taken, is_long, &context, &output, &served.processor);
  } else if (request.call->cancelled()) {
    served.status = Cancelled("the caller cancelled");
  } else {
    served.status = DeadlineExceeded("the deadline passed before the request ran");
  }
  served.end = Loop::Current()->Now();
  // A short request hardly ever parks, so elapsed time approximates its processor time and saves
  // two clock reads.
  if (!is_long) served.processor = served.end - served.begin;
  if (context.ended_early()) {
    taken.method->ended_early->Increment();
    if (!served.status.ok()) served.status = EndedEarly(served);
  }
  if (ran) CountRan(taken, served);
  const ResponseHeader header = Conclude(taken, context, served);
  request.reply.Send(header, served.status.ok() ? std::move(output).ReleaseBytes() : std::string());
  request.call->OnServed();
  return served.end;
}

void ServiceHost::CountRan(const Taken& taken, const Served& served) {
  const Duration ran = served.end - served.begin;
  if (options_.with_statistics) {
    class_statistics_->OnRan(taken.service_class, served.begin - taken.request.received, ran,
                             served.processor);
  }
  // FIFO with one class and no dropping does not use these times.
  const SchedulerOptions& scheduling = options_.scheduling;
  if (scheduling.classes.size() == 1 && scheduling.policy == SchedulingPolicy::kFifo &&
      !scheduling.drop_share) {
    return;
  }
  LeafLock lock(&mutex_);
  scheduler_.OnServed(taken.service_class, served.processor, ran, served.end);
}

Status ServiceHost::EndedEarly(const Served& served) const {
  return DeadlineExceeded("ended early after ", ToMillis(served.end - served.begin),
                          " ms by the time limit of ", service_);
}

// The context of a sampled request is a new span, the parent of the method's calls.
RequestContext ServiceHost::ContextOf(const IncomingRequest& request,
                                      const MethodEntry& method) const {
  const TraceContext& from = request.header.trace;
  RequestContext context(request.header.partition, request.deadline, request.header.service_class,
                         from.sampled ? ChildOf(from, Loop::Current()->random()) : from,
                         request.call, loops_.world(),
                         {.handler = method.number,
                          .retried = request.header.retried,
                          .waited = request.header.waited});
  if (!request.header.extension.empty()) context.set_extension(request.header.extension);
  return context;
}

ResponseHeader ServiceHost::Conclude(const Taken& taken, const RequestContext& context,
                                     const Served& served) {
  const IncomingRequest& request = taken.request;
  const MethodEntry& method = *taken.method;
  const Duration queued = served.begin - request.received;
  const Duration ran = served.end - served.begin;
  CountLoad(-1);
  if (options_.with_statistics) {
    method.queue_time->Record(queued);
    method.run_time->Record(ran);
    method.CountEnd(served.status);
    class_statistics_->OnEnd(taken.service_class, served.status);
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
  header.ended_early = context.ended_early();
  header.extension = context.answer_extension();
  return header;
}

void ServiceHost::BeginStream(Taken&& taken) {
  if (stream_count_.fetch_add(1) >= options_.stream_count_max) {
    --stream_count_;
    return Refuse(std::move(taken), ResourceExhausted(options_.stream_count_max, " streams of ",
                                                      service_, " are open"));
  }
  CountLoad(1);
  const std::vector<NodeLoop*>& workers = loops_.workers();
  NodeLoop& home = taken.method->options.grain == Grain::kShort
                       ? loops_.Current()
                       : *workers[next_stream_worker_.fetch_add(1) % workers.size()];
  home.loop->Post([this, &home, taken = std::move(taken)]() mutable {
    Taken* const source = &taken;
    const auto started = home.scheduler->RunInPlace([this, source] {
      ServeStream(std::move(*source));
      --stream_count_;
    });
    if (started.ok()) return;
    --stream_count_;
    CountLoad(-1);
    Refuse(std::move(taken), started.status());
  });
}

void ServiceHost::ServeStream(Taken taken) {
  IncomingRequest& request = taken.request;
  const MethodEntry& method = *taken.method;
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
  request.reply.Send(Conclude(taken, context, served), "");
}

bool ServiceHost::Stalled(TimePoint now) const {
  const int64_t since = starving_since_ns_;
  return since != 0 && now.time_since_epoch().count() - since > options_.stall_timeout.count();
}

Duration ServiceHost::Silence(TimePoint now) const {
  const int64_t since = threads_taken_since_ns_;
  if (since == kThreadsFree) return Duration(0);
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
