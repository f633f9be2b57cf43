#include "neptune/dac/reducer.h"

#include <glog/logging.h>

#include <exception>
#include <utility>

#include "neptune/thread/work_meter.h"
#include "neptune/world/loop.h"

namespace neptune {

Reducer::Reducer(const NodeTask& task, CostMeter& costs, OrderCheck& check)
    : task_(task), parameters_(task.plan.reduce_parameters), costs_(costs), check_(check) {}

Reducer::Reduced Reducer::Run(const Data& first, const Data& second) {
  const Loop& here = *Loop::Current();
  const TimePoint begin = here.Now();
  const WorkMeter meter;
  StatusOr<Data> combined = Combine(first, second);
  costs_.AddReduce(task_.service, meter.Read());
  if (combined.ok() && check_.IsDue()) {
    const Status checked = CheckOrder(first, second, *combined);
    if (!checked.ok()) combined = checked;
  }
  return {std::move(combined), here.Now() - begin};
}

StatusOr<Data> Reducer::Combine(const Data& first, const Data& second) const {
  Data combined;
  try {
    NEPTUNE_RETURN_IF_ERROR(task_.reduce.function(first, second, parameters_, &combined));
  } catch (const std::exception& error) {
    return Internal("operator ", task_.plan.reduce, " threw: ", error.what());
  } catch (...) {
    return Internal("operator ", task_.plan.reduce, " threw");
  }
  return combined;
}

Status Reducer::CheckOrder(const Data& first, const Data& second, const Data& combined) {
  const StatusOr<Data> swapped = Combine(second, first);
  if (swapped.ok() && swapped->bytes() == combined.bytes()) return OkStatus();
  check_.errors->Increment();
  const Status error = Internal("operator ", task_.plan.reduce,
                                " is not commutative: its result depends on the operand order");
  LOG(ERROR) << error;
  return error;
}

}  // namespace neptune
