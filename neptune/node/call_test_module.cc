#include "neptune/node/call_test_module.h"

#include <stdexcept>

#include "neptune/base/strings.h"
#include "neptune/node/echo_module.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

class CallTestModule final : public ServiceModule {
 public:
  explicit CallTestModule(HostRecords* records) : records_(*records) {}

  Status Start(ModuleContext& context) override {
    host_ = static_cast<SimWorld&>(context.world).name();
    NEPTUNE_RETURN_IF_ERROR(echo_.Start(context));
    AddReads(context.registrar);
    AddWrite(context.registrar);
    AddOperators(context.registrar);
    return OkStatus();
  }

  Status Health(PartitionId) override {
    if (record().health_throws) throw std::runtime_error("asked to throw");
    return record().health;
  }
  std::string implementation() const override { return "call-test"; }
  void Stop() override {
    ++record().module_stops;
    record().running_at_module_stop = record().running;
  }

 private:
  HostRecord& record() { return records_[host_]; }

  void AddReads(ServiceRegistrar& registrar) {
    registrar.Method(MethodName("Name"), {}, [this](RequestContext&, const Data&, Data* response) {
      ++record().begun;
      if (record().refuses) return Unavailable("asked to refuse");
      *response = Data(host_);
      return OkStatus();
    });
    const auto sleep = [this](RequestContext& context, const Data& request, Data* response) {
      return Sleep(context, milliseconds(std::stoi(request.bytes())), response);
    };
    registrar.Method(MethodName("Sleep"), {.grain = Grain::kLong}, sleep);
    registrar.Method(MethodName("Doze"), {}, sleep);
    registrar.Method(MethodName("Wait"), {.grain = Grain::kLong},
                     [this](RequestContext& context, const Data&, Data* response) {
                       return Sleep(context, std::chrono::hours(1), response);
                     });
    registrar.Method(MethodName("Throw"), {}, [](RequestContext&, const Data&, Data*) -> Status {
      throw std::runtime_error("asked to throw");
    });
  }

  void AddWrite(ServiceRegistrar& registrar) {
    registrar.Method(MethodName("Write"), {.access = AccessMode::kWrite, .stateless = false},
                     [this](RequestContext& context, const Data&, Data* response) {
                       ++record().begun;
                       if (record().refuses) return Unavailable("asked to refuse");
                       ++record().writes;
                       return Sleep(context, milliseconds(100), response);
                     });
  }

  void AddOperators(ServiceRegistrar& registrar) {
    registrar.Method(MethodName("LateSum"), {},
                     [this](RequestContext& context, const Data&, Data* response) {
                       if (host_ == "s0") this_thread::SleepFor(milliseconds(300));
                       *response = Data(StrCat(context.partition()));
                       return OkStatus();
                     });
    registrar.Reduce(MethodName("FailingReduce"), [](const Data&, const Data&, const Data&, Data*) {
      return InvalidArgument("asked to fail");
    });
    registrar.Reduce(MethodName("ThrowingReduce"),
                     [](const Data&, const Data&, const Data&, Data*) -> Status {
                       throw std::runtime_error("asked to throw");
                     });
  }

  Status Sleep(RequestContext& context, Duration duration, Data* response) {
    HostRecord& here = record();
    ++here.begun;
    here.running_max = std::max(here.running_max, ++here.running);
    const TimePoint end = context.Now() + duration;
    ParkResult result = ParkResult::kDeadline;
    while (context.Now() < end && !context.ShouldStop() && result == ParkResult::kDeadline) {
      result = this_thread::SleepUntil(std::min(end, context.Now() + milliseconds(10)));
    }
    --here.running;
    if (context.ShouldStop()) ++here.told_to_stop;
    if (result == ParkResult::kStopping) return Cancelled("the node stops");
    *response = Data(host_);
    return OkStatus();
  }

  HostRecords& records_;
  std::string host_;
  EchoModule echo_;
};

}  // namespace

ModuleFactory CallTestModules(HostRecords* records) {
  return [records](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
    return std::make_unique<CallTestModule>(records);
  };
}

}  // namespace neptune
