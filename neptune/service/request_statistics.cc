#include "neptune/service/request_statistics.h"

#include "neptune/base/strings.h"
#include "neptune/service/method_table.h"
#include "neptune/world/world.h"

namespace neptune {

Status RequestStatistics::Start(MetricsRegistry& metrics, const std::vector<std::string>& classes,
                                bool with_limit) {
  NEPTUNE_ASSIGN_OR_RETURN(classes_, ClassStatistics::Make(metrics, service_.value(), classes));
  if (!with_limit) return OkStatus();
  for (const HeldKind kind : kHeldKinds) {
    NEPTUNE_ASSIGN_OR_RETURN(
        released_[static_cast<size_t>(kind)],
        metrics.AddCounter("neptune_ended_early_released_total",
                           "Resources released by requests that were ended early.",
                           {{"service", service_.value()}, {"held", std::string(Name(kind))}}));
  }
  return OkStatus();
}

void RequestStatistics::OnRefused(const TakenRequest& taken, const Status& status) {
  if (taken.method != nullptr) taken.method->CountEnd(status);
  if (counts_) classes_->OnEnd(taken.service_class, status);
}

void RequestStatistics::OnEnded(const ServedRequest& served, const RequestContext& context,
                                const RequestRun& end, World& world) {
  const ServedMethod& method = served.method;
  const Duration queued = end.begin - served.request.received;
  if (counts_) {
    method.queue_time->Record(queued);
    method.run_time->Record(end.ran());
    method.CountEnd(end.status);
    classes_->OnEnd(served.service_class, end.status);
  }
  if (!context.trace().sampled) return;
  const RequestHeader& asked = served.request.header;
  spans_.Record({.context = context.trace(),
                 .parent = asked.trace.span,
                 .kind = SpanKind::kServer,
                 .what = StrCat(service_, "/", asked.partition, ".", method.name),
                 .end = world.wall_time(),
                 .duration = queued + end.ran(),
                 .queue_time = queued,
                 .outcome = end.status.code()});
}

}  // namespace neptune
