// Echo over gRPC C++, in the two ways of serving that its documentation recommends for speed.
//
//   grpc_echo serve [--api=queue|callback]
//   grpc_echo load OPTIONS                   asynchronous client; see load.h
//
// queue: one completion queue and one thread that polls it, many requests posted at once, each
// call's objects in an arena. callback: reactors on gRPC's own threads. Callers set a deadline, as
// Neptune's do.

#include <gflags/gflags.h>
#include <google/protobuf/arena.h>
#include <grpcpp/grpcpp.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/peers/echo.grpc.pb.h"
#include "tests/peers/load.h"

DEFINE_string(api, "queue", "serve: queue or callback");

namespace neptune::peers {
namespace {

constexpr int kPostedCount = 256;

void CopyMessage(const EchoMessage& from, EchoMessage* to) {
  to->set_number(from.number());
  to->set_payload(from.payload());
}

// --- Serving from a completion queue. ---

using Service = Echo::AsyncService;

// One call after the other in the same object; what a call allocates is freed at its end.
class QueueCall {
 public:
  using Request = void (Service::*)(grpc::ServerContext*, EchoMessage*,
                                    grpc::ServerAsyncResponseWriter<EchoMessage>*,
                                    grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*);

  QueueCall(Service& service, grpc::ServerCompletionQueue& queue, Request request, void (*before)())
      : service_(service),
        queue_(queue),
        request_function_(request),
        before_(before),
        arena_(first_block_, sizeof(first_block_)) {
    Post();
  }

  void Proceed() {
    if (std::exchange(answering_, !answering_)) return Post();
    if (before_ != nullptr) before_();
    auto* const response = google::protobuf::Arena::CreateMessage<EchoMessage>(&arena_);
    CopyMessage(*request_, response);
    call_->writer.Finish(*response, grpc::Status::OK, this);
  }

 private:
  struct Call {
    grpc::ServerContext context;
    grpc::ServerAsyncResponseWriter<EchoMessage> writer{&context};
  };
  void Post() {
    call_.emplace();
    arena_.Reset();
    request_ = google::protobuf::Arena::CreateMessage<EchoMessage>(&arena_);
    (service_.*request_function_)(&call_->context, request_, &call_->writer, &queue_, &queue_,
                                  this);
  }

  Service& service_;
  grpc::ServerCompletionQueue& queue_;
  const Request request_function_;
  void (*const before_)();
  char first_block_[1024];  // large enough for both messages
  google::protobuf::Arena arena_;
  EchoMessage* request_ = nullptr;
  std::optional<Call> call_;
  bool answering_ = false;
};

[[noreturn]] void ServeFromQueue(Service& service, grpc::ServerCompletionQueue& queue) {
  std::vector<std::unique_ptr<QueueCall>> calls;
  for (int i = 0; i < kPostedCount; ++i) {
    calls.push_back(std::make_unique<QueueCall>(service, queue, &Service::RequestEcho, nullptr));
  }
  calls.push_back(std::make_unique<QueueCall>(service, queue, &Service::RequestBusy, BeBusy));
  calls.push_back(std::make_unique<QueueCall>(service, queue, &Service::RequestBlocked, BeBlocked));
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) static_cast<QueueCall*>(tag)->Proceed();
  std::_Exit(0);
}

// --- Serving by callbacks. ---

class CallbackService final : public Echo::CallbackService {
  grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context, const EchoMessage* request,
                                 EchoMessage* response) override {
    CopyMessage(*request, response);
    auto* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  grpc::ServerUnaryReactor* Busy(grpc::CallbackServerContext* context, const EchoMessage* request,
                                 EchoMessage* response) override {
    BeBusy();
    return Echo(context, request, response);
  }
  grpc::ServerUnaryReactor* Blocked(grpc::CallbackServerContext* context,
                                    const EchoMessage* request, EchoMessage* response) override {
    BeBlocked();
    return Echo(context, request, response);
  }
};

int RunServe() {
  Service queue_service;
  CallbackService callback_service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  std::unique_ptr<grpc::ServerCompletionQueue> queue;
  if (FLAGS_api == "queue") {
    builder.RegisterService(&queue_service);
    queue = builder.AddCompletionQueue();
  } else {
    builder.RegisterService(&callback_service);
  }
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  std::thread poller;
  if (queue != nullptr) poller = std::thread([&] { ServeFromQueue(queue_service, *queue); });
  ReportPort(static_cast<uint16_t>(port));
  ServeUntilInputEnds();
  std::_Exit(0);
}

// --- Asking. ---

class Load {
 public:
  explicit Load(const LoadOptions& options) : options_(options), meter_(options) {
    for (int i = 0; i < options.connections; ++i) {
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
      stubs_.push_back(
          Echo::NewStub(grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(options.port),
                                                  grpc::InsecureChannelCredentials(), arguments)));
    }
    request_.set_number(20021115);
    request_.set_payload(std::string(64, 'x'));
  }

  void Run() {
    if (options_.rate > 0) return RunOpen();
    for (const auto& stub : stubs_) {
      for (int i = 0; i < options_.depth; ++i) Send(*stub, NowNs(), false);
    }
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
      auto* const call = static_cast<Call*>(tag);
      if (!Take(*call)) std::_Exit(0);
      Echo::Stub& stub = call->stub;
      Free(call);
      Send(stub, NowNs(), false);
    }
  }

 private:
  struct Call {
    explicit Call(Echo::Stub& stub) : stub(stub) {}
    Echo::Stub& stub;
    std::optional<grpc::ClientContext> context;
    EchoMessage response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<EchoMessage>> reader;
    int64_t due_ns = 0;
    bool slow = false;
  };

  // One thread sends what is due, another takes the answers: a completion queue waits whole
  // milliseconds only.
  void RunOpen() {
    std::thread sender([this] { SendWhenDue(); });
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
      auto* const call = static_cast<Call*>(tag);
      if (!Take(*call)) std::_Exit(0);
      Free(call);
    }
  }

  [[noreturn]] void SendWhenDue() {
    prctl(PR_SET_TIMERSLACK, 1);  // ns
    Arrivals arrivals(options_);
    for (size_t i = 0;; ++i, arrivals.Advance()) {
      const Arrivals::Arrival& next = arrivals.next();
      WaitUntil(next.due_ns);
      Send(*stubs_[i % stubs_.size()], next.due_ns, next.slow);
      std::this_thread::yield();  // at real-time priority nothing else lets the other thread run
    }
  }

  void Send(Echo::Stub& stub, int64_t due_ns, bool slow) {
    auto* const call = new Call(stub);
    call->due_ns = due_ns;
    call->slow = slow;
    call->context.emplace();
    call->context->set_deadline(
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(10, GPR_TIMESPAN)));
    if (!slow) {
      call->reader = stub.AsyncEcho(&*call->context, request_, &queue_);
    } else if (options_.slow_method == "Busy") {
      call->reader = stub.AsyncBusy(&*call->context, request_, &queue_);
    } else {
      call->reader = stub.AsyncBlocked(&*call->context, request_, &queue_);
    }
    call->reader->Finish(&call->response, &call->status, call);
  }

  bool Take(const Call& call) {
    if (!call.status.ok() || call.response.payload() != request_.payload()) meter_.CountLost();
    return meter_.Count(call.due_ns, call.slow);
  }
  static void Free(Call* call) { delete call; }

  const LoadOptions options_;
  Meter meter_;
  EchoMessage request_;
  std::vector<std::unique_ptr<Echo::Stub>> stubs_;
  grpc::CompletionQueue queue_;
};

}  // namespace
}  // namespace neptune::peers

int main(int argc, char** argv) {
  const std::string command = neptune::peers::ConsumeCommand(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (command == "serve") return neptune::peers::RunServe();
  if (command == "load") {
    neptune::peers::Load(neptune::peers::LoadOptionsFromFlags()).Run();
    return 0;
  }
  std::fprintf(stderr, "grpc_echo serve|load [OPTIONS]\n");
  return 2;
}
