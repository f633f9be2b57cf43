#include "neptune/service/service_host.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/service/operator_registry.h"
#include "neptune/service/partition_batch.h"
#include "neptune/service/without_exceptions.h"

namespace neptune {
namespace {

// FIFO with one class and no dropping does not use the consumption of requests.
bool UsesConsumption(const SchedulerOptions& options) {
  return options.classes.size() > 1 || options.policy != SchedulingPolicy::kFifo ||
         options.drop_share.has_value();
}

}  // namespace

ServiceHost::ServiceHost(ServiceName service, std::vector<PartitionId> partitions,
                         const ServiceHostParts& parts, const ServiceHostOptions& options)
    : options_(options),
      loops_(parts.loops),
      operators_(parts.operators),
      metrics_(parts.metrics),
      methods_(service, std::move(partitions), metrics_),
      time_limit_(options.time_limit ? std::make_unique<TimeLimit>(*options.time_limit) : nullptr),
      load_(loops_),
      statistics_(service, parts.spans, options.with_statistics),
      queue_(options.scheduling, options.threads, time_limit_.get()),
      runner_(service, {.loops = loops_,
                        .load = load_,
                        .statistics = statistics_,
                        .queue = queue_,
                        .limit = time_limit_.get(),
                        .reports_consumption = UsesConsumption(options.scheduling)}),
      pool_(service, options_.scheduling,
            {.loops = loops_,
             .load = load_,
             .queue = queue_,
             .runner = runner_,
             .limit = time_limit_.get()}),
      streams_(service, options.stream_count_max, loops_, load_, runner_) {}

ServiceHost::~ServiceHost() = default;

Status ServiceHost::Start(std::unique_ptr<ServiceModule> module, ModuleContext& context) {
  std::vector<std::string> classes;
  for (const ServiceClassOptions& one : options_.scheduling.classes) classes.push_back(one.name);
  NEPTUNE_RETURN_IF_ERROR(statistics_.Start(metrics_, classes, time_limit_ != nullptr));
  NEPTUNE_RETURN_IF_ERROR(AddGauges());
  module_ = std::move(module);
  return Annotate(WithoutExceptions("the module", [&] { return module_->Start(context); }),
                  StrCat("starting service ", service()));
}

Status ServiceHost::AddGauge(const char* name, const char* help, const std::string& class_name,
                             std::function<double()> value) {
  MetricLabels labels = {{"service", service().value()}};
  if (!class_name.empty()) labels.emplace_back("class", class_name);
  NEPTUNE_ASSIGN_OR_RETURN(CallbackGauge gauge,
                           metrics_.AddCallbackGauge(name, help, labels, std::move(value)));
  gauges_.push_back(std::move(gauge));
  return OkStatus();
}

Status ServiceHost::AddGauges() {
  NEPTUNE_RETURN_IF_ERROR(AddGauge("neptune_load_index", "Active and queued requests.", "",
                                   [this] { return load_index(); }));
  NEPTUNE_RETURN_IF_ERROR(AddGauge("neptune_queue_length", "Queued requests.", "",
                                   [this] { return queue_.waiting_count(); }));
  if (time_limit_ != nullptr) {
    NEPTUNE_RETURN_IF_ERROR(AddGauge("neptune_time_limit_seconds",
                                     "Current time limit of a request.", "",
                                     [this] { return ToSeconds(time_limit_->threshold()); }));
  }
  const std::vector<ServiceClassOptions>& classes = options_.scheduling.classes;
  for (ClassNumber number = 0; classes.size() > 1 && number < classes.size(); ++number) {
    NEPTUNE_RETURN_IF_ERROR(
        AddGauge("neptune_class_share", "Share of the recent consumption of all classes.",
                 classes[number].name, [this, number] { return queue_.ShareOf(number); }));
  }
  return OkStatus();
}

void ServiceHost::Stop() {
  if (module_ == nullptr) return;
  const Status status = WithoutExceptions("the module", [&] {
    module_->Stop();
    return OkStatus();
  });
  LOG_IF(ERROR, !status.ok()) << "stopping service " << service() << ": " << status;
}

void ServiceHost::Method(const MethodName& name, const MethodOptions& options,
                         MethodFunction function) {
  methods_.Add(name, options, std::move(function));
}

void ServiceHost::Stream(const MethodName& name, const MethodOptions& options,
                         StreamFunction function) {
  methods_.AddStream(name, options, std::move(function));
}

void ServiceHost::Reduce(const MethodName& name, const ReduceOptions& options,
                         ReduceOperator reduce) {
  operators_.Register(name, options, std::move(reduce));
}

void ServiceHost::ReduceStream(const MethodName& name, StreamReduceOperator reduce) {
  reduces_streams_ = true;
  operators_.RegisterStream(name, std::move(reduce));
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

void ServiceHost::AdmitBatch(PartitionBatch* batch, RequestHeader* header) const {
  const std::vector<PartitionId>& here = partitions();
  bool has_any = false;
  for (size_t i = batch->size(); i-- > 0;) {
    const PartitionId partition = batch->partition(i);
    if (std::find(here.begin(), here.end(), partition) == here.end()) {
      batch->Finish(i, {.status = methods_.NotHere(partition)});
    } else {
      header->partition = partition;
      has_any = true;
    }
  }
  if (!has_any) header->partition = batch->partition(0);
}

void ServiceHost::Dispatch(IncomingRequest&& request, std::shared_ptr<PartitionBatch> batch) {
  if (batch != nullptr) AdmitBatch(batch.get(), &request.header);
  const MethodTable::Found found = methods_.Find(request);
  const ClassNumber service_class = Classify(&request);
  statistics_.OnArrival(service_class);
  const auto take = [&]() -> TakenRequest {
    return {std::move(request), found.method, service_class, std::move(batch)};
  };
  if (!found.status.ok()) return runner_.Refuse(take(), found.status);
  if (time_limit_ != nullptr) time_limit_->OnArrival(request.received, request.header.waited);
  const ServedMethod& method = *found.method;
  if (method.streams()) return streams_.Begin(take());
  const ServedRequest served{request, method, service_class, batch};
  if (RunsInHandler(request, method)) return RunInHandler(served);
  load_.Begin();
  if (method.is_short() && TryRunInPlace(served)) return;
  pool_.Enqueue(take());
}

bool ServiceHost::RunsInHandler(const IncomingRequest& request, const ServedMethod& method) const {
  return !method.options.parks && queue_.waiting_count() == 0 && !request.call->measures_work();
}

void ServiceHost::RunInHandler(const ServedRequest& served) {
  NodeLoop& here = loops_.Current();
  const TimePoint begin = std::max(served.request.received, here.in_place_end);
  here.in_place_end = runner_.ServeHere(served, begin, &here.answer_room);
}

bool ServiceHost::TryRunInPlace(const ServedRequest& served) {
  if (queue_.waiting_count() > 0) return false;
  if (short_count_.fetch_add(1) >= options_.short_count_max) {
    --short_count_;
    return false;
  }
  // The closure takes the request only when it runs, so that the request stays here if no thread
  // can be started. It captures one pointer so that it needs no allocation; the pointer dangles
  // after the first park and must not be used then.
  NodeLoop& here = loops_.Current();
  const TimePoint last_end = here.in_place_end;
  const TimePoint begin = std::max(served.request.received, last_end);
  const ServedMethod& method = served.method;
  struct Start {
    ServiceHost& host;
    NodeLoop& here;
    const ServedRequest& served;
  } start{*this, here, served};
  const auto started = here.scheduler->RunInPlace([from = &start] {
    ServiceHost& host = from->host;
    NodeLoop& here = from->here;
    IncomingRequest request = std::move(from->served.request);
    const ServedRequest own{request, from->served.method, from->served.service_class,
                            from->served.batch};
    // Requests that arrived with one read run one after the other, so the end of the previous one
    // is the begin of this one, and a clock read is saved.
    const TimePoint begin = std::max(request.received, here.in_place_end);
    here.in_place_end = host.runner_.ServeShort(own, begin);
    --host.short_count_;
  });
  if (!started.ok()) --short_count_;
  // Otherwise the request has parked. Services of the control loop need that loop.
  if (here.in_place_end != last_end && here.role == LoopRole::kServing) {
    method.grain.OnRun(here.in_place_end - begin);
  }
  return started.ok();
}

Status ServiceHost::SetThreads(const ThreadShares& shares) {
  NEPTUNE_RETURN_IF_ERROR(CheckThreadShares(shares, options_.scheduling.classes.size()));
  pool_.SetShares(shares);
  return OkStatus();
}

std::vector<ServiceHost::ClassState> ServiceHost::Classes() const {
  std::vector<ClassState> states;
  for (const PoolQueue::ClassLoad& load : queue_.Classes()) {
    const ServiceClassOptions& options = options_.scheduling.classes[states.size()];
    states.push_back({.name = options.name,
                      .own_threads = load.own_threads,
                      .busy_count = load.busy_count,
                      .waiting_count = load.waiting_count,
                      .queue_length_max = options.queue_length_max,
                      .guarantee = options.guarantee,
                      .share = load.share,
                      .totals = statistics_.TotalsOf(states.size())});
  }
  return states;
}

HostedService ServiceHost::Describe(TimePoint now) const {
  HostedService hosted{service(), 1, implementation(), {}};
  if (module_ == nullptr || Stalled(now)) return hosted;
  for (const PartitionId& partition : partitions()) {
    if (Healthy(partition)) hosted.partitions.push_back(partition);
  }
  return hosted;
}

bool ServiceHost::Healthy(PartitionId partition) const {
  return WithoutExceptions("Health", [&] { return module_->Health(partition); }).ok();
}

}  // namespace neptune
