#include "neptune/dac/reductions.h"

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/service/service_host.h"

namespace neptune {

Reductions::Reductions(AggregationEnvironment& environment, const NodeTask& task, NodeLoop& loop,
                       TaskWork& work, OnTurn on_turn)
    : task_(task),
      loop_(loop),
      work_(work),
      on_turn_(std::move(on_turn)),
      reducer_(task, environment.costs, environment.order_check),
      place_(environment.reduction_place == nullptr || task.own.empty()
                 ? nullptr
                 : environment.reduction_place()),
      locals_ended_(task.own.empty()) {}

void Reductions::Begin(const std::shared_ptr<void>& owner) {
  self_ = std::shared_ptr<Reductions>(owner, this);
}

void Reductions::Advance() {
  if (closed_) return;
  if (progress_.missing_count() > task_.plan.missing_count_max && !progress_.closed()) {
    return on_turn_(Turn::kHopeless);
  }
  while (auto inputs = progress_.NextReduction()) {
    if (!Start(*std::move(inputs))) return;
  }
  if (progress_.done()) on_turn_(Turn::kDone);
}

bool Reductions::RunsAtPlace() const {
  return place_ != nullptr && (!locals_ended_ || place_->is_open());
}

bool Reductions::Start(AggregationProgress::Reduction inputs) {
  const bool at_place = RunsAtPlace();
  if (!at_place && task_.reduce.options.grain == Grain::kShort) {
    End(reducer_.Run(inputs.first, inputs.second));
    return true;
  }
  auto run = [to = self_, home = loop_.loop, inputs = std::move(inputs)](const Status& may_run) {
    const auto self = to.lock();
    if (self == nullptr) return;
    Reducer::Reduced reduced =
        may_run.ok() ? self->reducer_.Run(inputs.first, inputs.second) : Reducer::Reduced{may_run};
    home->Post([to, reduced = std::move(reduced)]() mutable {
      if (const auto self = to.lock()) self->HandleReduced(std::move(reduced));
    });
  };
  if (at_place) {
    place_->Run([run = std::move(run)] { run(OkStatus()); });
    return false;
  }
  if (task_.host != nullptr) {
    task_.host->RunEvent(std::move(run));
    return false;
  }
  const auto started = loop_.scheduler->Spawn([run]() mutable { run(OkStatus()); });
  if (!started.ok()) End({started.status()});
  return !started.ok();
}

// REQUIRES: the caller keeps the owner alive.
void Reductions::HandleReduced(Reducer::Reduced reduced) {
  if (closed_) return;
  End(std::move(reduced));
  Advance();
}

void Reductions::End(Reducer::Reduced reduced) {
  work_.SettleReduction();
  if (locals_ended_) time_after_locals_ += reduced.took;
  StatusOr<Data>& combined = reduced.combined;
  if (!combined.ok()) {
    combined = Annotate(combined.status(), StrCat("reducing results of ", task_.service));
  }
  progress_.Reduced(std::move(combined));
}

}  // namespace neptune
