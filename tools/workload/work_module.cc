#include "tools/workload/work_module.h"

#include <cmath>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/main_pool.h"
#include "neptune/service/parameter_table.h"
#include "neptune/thread/user_thread.h"

namespace search::workload {
namespace {

using neptune::Duration;
using neptune::Status;

// How often a hung request checks whether it may continue.
constexpr Duration kHungLook = std::chrono::milliseconds(100);
// Limits of factors and counts.
constexpr double kFactorMin = 1e-6;
constexpr double kFactorMax = 1e6;

Duration Scaled(Duration cost, double factor) {
  return Duration(std::llround(static_cast<double>(cost.count()) * factor));
}

}  // namespace

std::string WorkRequest(Duration cost, Duration wait) {
  std::string bytes;
  neptune::ByteWriter out(&bytes);
  out.Number(static_cast<uint64_t>(cost.count()));
  out.Number(static_cast<uint64_t>(wait.count()));
  return bytes;
}

void WorkModule::DeclareParameters(neptune::ParameterTable& table) {
  table.Choice("cpu", {"processors", "spin", "emulated"}, &cpu_, "how time is used");
  table.Real("processors", {kFactorMin, kFactorMax}, &processor_count_,
             "number of emulated processors");
  table.Real("slowness", {kFactorMin, kFactorMax}, &slowness_, "multiplies every cost");
  table.Real("slice_ms", {0, kFactorMax}, &slice_ms_,
             "how long a request works before it checks whether it should stop, in milliseconds; "
             "0: it never does; not with emulated processors");
}

Status WorkModule::Start(neptune::ModuleContext& context) {
  emulated_ = cpu_ == "emulated";
  free_processors_ = std::max(1, static_cast<int>(processor_count_));
  slice_ = neptune::FromSeconds(slice_ms_ / 1000);
  context.registrar.Method(
      neptune::MethodName(kWorkMethod), {.grain = neptune::Grain::kLong},
      [this](neptune::RequestContext& request_context, const neptune::Data& request,
             neptune::Data*) { return Run(request_context, request); });
  return neptune::OkStatus();
}

Status WorkModule::Run(neptune::RequestContext& context, const neptune::Data& request) {
  neptune::ByteReader reader(request.bytes());
  const Duration cost = Scaled(Duration(reader.Number<uint64_t>()), slowness_);
  const Duration wait(reader.Number<uint64_t>());
  if (!reader.finished() || cost < Duration(0) || wait < Duration(0)) {
    return neptune::InvalidArgument("the request is not a cost");
  }
  NEPTUNE_RETURN_IF_ERROR(Work(context, cost));
  if (wait == Duration(0)) return neptune::OkStatus();
  const neptune::OutsideMainPool outside;
  return context.SleepUntil(neptune::AddSaturated(context.Now(), wait));
}

Status WorkModule::Work(neptune::RequestContext& context, Duration cost) {
  while (conduct_->kind == Conduct::Kind::kHung) {
    if (neptune::this_thread::SleepFor(kHungLook) == neptune::ParkResult::kStopping) {
      return neptune::Cancelled("the node stops");
    }
  }
  if (conduct_->kind == Conduct::Kind::kFailing) {
    Use(context.world(), Scaled(cost, conduct_->share));
    return neptune::Internal("failed on request");
  }
  if (slice_ > Duration(0) && !emulated_) {
    return UseInSlices(context, cost) ? neptune::OkStatus()
                                      : neptune::DeadlineExceeded("cancelled");
  }
  Use(context.world(), cost);
  return neptune::OkStatus();
}

bool WorkModule::UseInSlices(neptune::RequestContext& context, Duration cost) {
  for (Duration left = cost; left > Duration(0); left -= slice_) {
    if (context.ShouldStop()) return false;
    Use(context.world(), std::min(left, slice_));
  }
  return true;
}

void WorkModule::Use(neptune::World& world, Duration cost) {
  if (!emulated_) return neptune::this_thread::Consume(world.processors(), cost);
  {
    neptune::ThreadLock lock(&mutex_);
    while (free_processors_ == 0) {
      if (freed_.Wait(mutex_) == neptune::ParkResult::kStopping) return;
    }
    --free_processors_;
  }
  (void)neptune::this_thread::SleepFor(cost);
  neptune::ThreadLock lock(&mutex_);
  ++free_processors_;
  freed_.NotifyOne();
}

}  // namespace search::workload
