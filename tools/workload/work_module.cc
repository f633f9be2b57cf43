#include "tools/workload/work_module.h"

#include <charconv>
#include <cmath>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/main_pool.h"
#include "neptune/thread/user_thread.h"

namespace search::workload {
namespace {

using neptune::Duration;
using neptune::Status;

// How often a hung request looks whether it may go on.
constexpr Duration kHungLook = std::chrono::milliseconds(100);

neptune::StatusOr<double> NumberParameter(const neptune::ModuleContext& context,
                                          const std::string& name, double otherwise) {
  const auto found = context.parameters.find(name);
  if (found == context.parameters.end()) return otherwise;
  const std::string& text = found->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0)) {
    return neptune::InvalidArgument("parameter ", name, " is '", text, "', not a number above 0");
  }
  return value;
}

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

Status WorkModule::Start(neptune::ModuleContext& context) {
  const auto cpu = context.parameters.find("cpu");
  const std::string where = cpu == context.parameters.end() ? "processors" : cpu->second;
  if (where != "processors" && where != "spin" && where != "emulated") {
    return neptune::InvalidArgument("parameter cpu is '", where,
                                    "', not processors, spin or emulated");
  }
  emulated_ = where == "emulated";
  NEPTUNE_ASSIGN_OR_RETURN(const double count, NumberParameter(context, "processors", 1));
  NEPTUNE_ASSIGN_OR_RETURN(slowness_, NumberParameter(context, "slowness", 1));
  free_processors_ = std::max(1, static_cast<int>(count));
  NEPTUNE_ASSIGN_OR_RETURN(const double slice_ms, NumberParameter(context, "slice_ms", 0));
  slice_ = neptune::FromSeconds(slice_ms / 1000);
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
    return neptune::InvalidArgument("the request is not a valid cost");
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
    return neptune::Internal("told to fail");
  }
  if (slice_ > Duration(0) && !emulated_) {
    return UseInSlices(context, cost) ? neptune::OkStatus()
                                      : neptune::DeadlineExceeded("told to stop");
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
