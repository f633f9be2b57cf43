#include "neptune/testing/call_test_module.h"

#include <stdexcept>

#include "neptune/base/strings.h"
#include "neptune/dac/dac.h"
#include "neptune/node/echo_module.h"
#include "neptune/service/client.h"
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
    AddCalls(context.registrar, context.client);
    AddStreams(context.registrar);
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

  void AddCalls(ServiceRegistrar& registrar, Client& client) {
    registrar.Method(
        MethodName("Relay"), {}, [&client](RequestContext& context, const Data&, Data* response) {
          ClientSession session(client, context);
          return Call(
              session,
              {ServiceName("echo"), context.partition(), MethodName("Wait"), AccessMode::kRead},
              Data(), response);
        });
    registrar.Method(
        MethodName("RelayNap"), {.grain = Grain::kLong},
        [&client](RequestContext& context, const Data&, Data* response) {
          ClientSession session(client, context);
          return Call(session,
                      {ServiceName("echo"), PartitionId(1), MethodName("Nap"), AccessMode::kRead},
                      Data(), response);
        });
    registrar.Method(MethodName("RelaySum"), {.grain = Grain::kLong},
                     [&client](RequestContext& context, const Data&, Data* response) {
                       ClientSession session(client, context);
                       AggregationRequest request;
                       request.service = ServiceName("echo");
                       request.partitions = {PartitionId(1), PartitionId(2)};
                       request.local = MethodName("NapSum");
                       request.reduce = MethodName("AddNumbers");
                       request.scheme = TreeScheme::kBase;
                       AggregationReport report;
                       return Aggregate(session, request, response, &report);
                     });
    registrar.Method(MethodName("Nap"), {.grain = Grain::kLong},
                     [this](RequestContext& context, const Data&, Data*) {
                       ++record().running;
                       const Status status =
                           context.SleepUntil(context.Now() + std::chrono::hours(1));
                       --record().running;
                       return status;
                     });
  }

  void AddStreams(ServiceRegistrar& registrar) {
    registrar.Stream(MethodName("Hold"), {},
                     [this](RequestContext& context, const Data& request, ServerStream& stream) {
                       return Hold(context, request, stream);
                     });
    registrar.Stream(MethodName("Pour"), {.grain = Grain::kLong},
                     [this](RequestContext&, const Data& request, ServerStream& stream) {
                       return Pour(std::string(std::stoul(request.bytes()), 'x'), stream);
                     });
    registrar.Stream(MethodName("Refuse"), {},
                     [](RequestContext&, const Data&, ServerStream& stream) -> Status {
                       NEPTUNE_RETURN_IF_ERROR(stream.Read().status());
                       return FailedPrecondition("asked to refuse");
                     });
  }

  Status Hold(RequestContext& context, const Data& request, ServerStream& stream) {
    ++record().running;
    Status status = context.SleepUntil(context.Now() + milliseconds(std::stoi(request.bytes())));
    while (status.ok()) {
      const auto message = stream.Read();
      status = message.status();
      if (!status.ok() || !message->has_value()) break;
      ++record().messages;
    }
    --record().running;
    record().stream_end = status.code();
    return status;
  }

  Status Pour(const std::string& message, ServerStream& stream) {
    Status status;
    for (; status.ok(); status = stream.Write(Data(message))) ++record().messages;
    record().stream_end = status.code();
    return status;
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
    registrar.Method(MethodName("SlowSum"), {},
                     [](RequestContext& context, const Data&, Data* response) {
                       *response = Data(StrCat(context.partition()));
                       return context.SleepUntil(context.Now() + milliseconds(50));
                     });
    registrar.Method(MethodName("NapSum"), {},
                     [this](RequestContext& context, const Data&, Data* response) {
                       *response = Data(StrCat(context.partition()));
                       if (!record().naps) return OkStatus();
                       return context.SleepUntil(context.Now() + std::chrono::hours(1));
                     });
    registrar.Method(MethodName("RefusedSum"), {.grain = Grain::kLong},
                     [this](RequestContext& context, const Data&, Data*) -> Status {
                       if (host_ == "s0") return ResourceExhausted("asked to refuse");
                       ++record().running;
                       const Status status =
                           context.SleepUntil(context.Now() + std::chrono::hours(1));
                       --record().running;
                       return status;
                     });
    registrar.Method(MethodName("PartSum"), {.grain = Grain::kLong},
                     [this](RequestContext& context, const Data&, Data* response) {
                       if (host_ == "s1") return context.SleepUntil(context.deadline());
                       while (host_ == "s0" && !context.ShouldStop()) {
                         this_thread::SleepFor(milliseconds(1));
                       }
                       *response = Data(StrCat(context.partition()));
                       return OkStatus();
                     });
    registrar.Stream(MethodName("Numbers"), {},
                     [this](RequestContext& context, const Data& request, ServerStream& stream) {
                       return WriteNumbers(context, std::stoi(request.bytes()), stream);
                     });
    registrar.ReduceStream(MethodName("MergeNumbers"), MergeNumbers);
    registrar.ReduceStream(
        MethodName("FailingMerge"),
        [](MessageSource& first, MessageSource&, const Data&, MessageSink&) -> Status {
          NEPTUNE_RETURN_IF_ERROR(first.Read().status());
          return InvalidArgument("asked to fail");
        });
    registrar.Method(MethodName("Huge"), {},
                     [](RequestContext&, const Data& request, Data* response) {
                       *response = Data(std::string(std::stoul(request.bytes()), 'x'));
                       return OkStatus();
                     });
    registrar.Reduce(MethodName("Concatenate"),
                     [](const Data& first, const Data& second, const Data&, Data* result) {
                       *result = Data(first.bytes() + second.bytes());
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

  // partition, partition + 1000, ...: `count` numbers in rising order. A host that naps breaks off
  // halfway.
  Status WriteNumbers(RequestContext& context, int count, ServerStream& stream) {
    for (int i = 0; i < count; ++i) {
      if (record().naps && i == count / 2) return Unavailable("asked to break off");
      const auto number = context.partition().value() + 1000 * static_cast<uint32_t>(i);
      NEPTUNE_RETURN_IF_ERROR(stream.Write(Data(StrCat(number))));
    }
    return OkStatus();
  }

  static Status MergeNumbers(MessageSource& first, MessageSource& second, const Data&,
                             MessageSink& result) {
    MessageSource* sources[] = {&first, &second};
    std::optional<Data> heads[2];
    for (int i = 0; i < 2; ++i) {
      NEPTUNE_ASSIGN_OR_RETURN(heads[i], sources[i]->Read());
    }
    while (heads[0] || heads[1]) {
      const bool take_second =
          !heads[0] || (heads[1] && std::stoi(heads[1]->bytes()) < std::stoi(heads[0]->bytes()));
      NEPTUNE_RETURN_IF_ERROR(result.Write(*heads[take_second]));
      NEPTUNE_ASSIGN_OR_RETURN(heads[take_second], sources[take_second]->Read());
    }
    return OkStatus();
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
    if (context.ShouldStop()) ++here.stop_count;
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
