#include "neptune/examples/micro/micro_module.h"

#include <algorithm>

#include "neptune/examples/micro/micro_aggregation.h"
#include "neptune/examples/micro/micro_work.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples {
namespace {

Status UseTime(const RequestContext& context, Duration time, Duration slice) {
  Processors& processors = context.world().processors();
  if (slice == Duration(0)) slice = time;
  while (time > Duration(0)) {
    const Duration piece = std::min(time, slice);
    this_thread::Consume(processors, piece);
    time -= piece;
    if (time == Duration(0)) break;
    if (context.Now() >= context.deadline()) return DeadlineExceeded("MICRO stopped early");
    if (context.ShouldStop()) return Cancelled("MICRO stopped early");
    this_thread::Yield();
  }
  return OkStatus();
}

Status Run(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const MicroRequest* const asked, request.As<MicroRequest>());
  NEPTUNE_RETURN_IF_ERROR(ValidateMicroRequest(*asked));
  const Duration time = MicroLocalTime(*asked, context.partition());
  NEPTUNE_RETURN_IF_ERROR(UseTime(context, time, Duration(asked->slice_ns())));
  MicroResult result;
  result.set_partition_sum(context.partition().value());
  result.set_partition_count(1);
  result.set_least_partition(context.partition().value());
  result.set_local_ns(static_cast<uint64_t>(time.count()));
  *response = Data::Of(std::move(result));
  return OkStatus();
}

}  // namespace

Status MicroModule::Start(ModuleContext& context) {
  context.registrar.Method(MethodName(kMicroMethod), {.grain = Grain::kLong}, Run);
  RegisterMicroReduce(context);
  return OkStatus();
}

}  // namespace neptune::examples
