// Echo over Neptune: whole nodes, the library as programs use it.
//
//   neptune_echo serve [--features=false]     one node with one serving and one worker loop
//   neptune_echo load OPTIONS                 see load.h; frames over this many connections
//   neptune_echo ping OPTIONS [--fresh]       calls one after the other, as a module makes them
//
// With features a request carries a deadline, a trace context (one in a hundred sampled) and can be
// cancelled, and the node counts and times its methods; without, none of these.

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/node/node.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/node_loops.h"
#include "neptune/testing/real_node.h"
#include "neptune/wire/client_connection.h"
#include "neptune/world/real/real_world.h"
#include "tests/peers/echo.pb.h"
#include "tests/peers/load.h"

DEFINE_bool(features, true, "deadlines, traces and statistics");
DEFINE_bool(fresh, false, "ping: a connection for each call");
DEFINE_string(cluster, "peers", "name of the cluster that serve and ping find each other in");
DEFINE_uint32(multicast_port, 7434, "multicast port of the cluster");

namespace neptune::peers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kSampledOneIn = 100;

class EchoPeer final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName("Echo"), {}, Echo);
    context.registrar.Method(MethodName("Busy"), {.grain = Grain::kLong},
                             [](RequestContext& request, const Data& in, Data* out) {
                               BeBusy();
                               return Echo(request, in, out);
                             });
    context.registrar.Method(
        MethodName("Blocked"), {.grain = Grain::kLong},
        [](RequestContext& request, const Data& in, Data* out) {
          NEPTUNE_RETURN_IF_ERROR(request.SleepUntil(request.Now() + milliseconds(5)));
          return Echo(request, in, out);
        });
    return OkStatus();
  }
  std::string implementation() const override { return "echo-peer"; }

 private:
  // The messages are reused, as those of the other peers are; nothing is waited for between.
  static Status Echo(RequestContext&, const Data& in, Data* out) {
    static thread_local EchoMessage request;
    static thread_local EchoMessage response;
    if (!request.ParseFromString(in.bytes())) return InvalidArgument("no echo message");
    response.set_number(request.number());
    response.set_payload(request.payload());
    *out = Data(response.SerializeAsString());
    return OkStatus();
  }
};

std::unique_ptr<RealNode> StartEchoNode(const std::string& name) {
  const auto spec = ParseClusterSpec(
      StrCat("name: '", FLAGS_cluster, "' multicast_group: '239.192.7.4:", FLAGS_multicast_port,
             "' announce_interval_ms: 100 ",
             "services { name: 'echo' module: 'echo' queue_length_max: 1000 concurrency: 64 } ",
             "services { name: 'caller' module: 'echo' } ",
             "nodes { name: 'server' hosts { service: 'echo' } } ",
             "nodes { name: 'caller' hosts { service: 'caller' } }"),
      "neptune_echo");
  CHECK(spec.ok()) << spec.status();
  NodeOptions options;
  options.spec = *spec;
  options.name = NodeId(name);
  options.modules = [](const std::string&) { return std::make_unique<EchoPeer>(); };
  options.with_method_statistics = FLAGS_features;
  return StartRealNode(std::move(options));
}

std::string EchoBytes() {
  EchoMessage message;
  message.set_number(20021115);
  message.set_payload(std::string(64, 'x'));
  return message.SerializeAsString();
}

// The callers of one load program, all on one loop.
class Load {
 public:
  Load(Loop& loop, const LoadOptions& options) : loop_(loop), options_(options), meter_(options) {}

  void Connect() {
    for (int i = 0; i < options_.connections; ++i) {
      loop_.network().Connect(
          {kLoopbackAddress, options_.port}, kNever,
          [this](StatusOr<std::unique_ptr<Stream>> stream) { Add(*std::move(stream)); });
    }
  }
  void Wait() { ended_.WaitForNotification(); }

 private:
  struct Call final : public AnswerSink {
    Call(Load& load, ClientConnection& connection) : load(load), connection(connection) {}
    void OnAnswer(StatusOr<CallAnswer>&& answer) override { load.Answered(*this, answer); }
    Load& load;
    ClientConnection& connection;
    int64_t due_ns = 0;
    bool slow = false;
  };

  void Add(std::unique_ptr<Stream> stream) {
    connections_.push_back(
        std::make_unique<ClientConnection>(std::move(stream), ClientConnectionOptions{}));
    connections_.back()->Start([](const Status&) {});
    if (static_cast<int>(connections_.size()) < options_.connections) return;
    if (options_.rate > 0) {
      arrivals_ = std::make_unique<Arrivals>(options_);
      return SendDue();
    }
    for (const auto& connection : connections_) {
      for (int i = 0; i < options_.depth; ++i) Send(*NewCall(*connection), NowNs(), false);
    }
  }

  Call* NewCall(ClientConnection& connection) {
    calls_.push_back(std::make_unique<Call>(*this, connection));
    return calls_.back().get();
  }

  void Send(Call& call, int64_t due_ns, bool slow) {
    call.due_ns = due_ns;
    call.slow = slow;
    RequestHeader header;
    header.service = ServiceName("echo");
    header.method = MethodName(slow ? options_.slow_method : "Echo");
    if (FLAGS_features) {
      header.time_left = seconds(10);
      header.trace = {1, ++sent_count_, sent_count_, sent_count_ % kSampledOneIn == 0};
    }
    if (!call.connection.Call(header, payload_, &call).ok()) {
      meter_.CountLost();
    }
  }

  void Answered(Call& call, const StatusOr<CallAnswer>& answer) {
    if (!answer.ok() || answer->payload != payload_) meter_.CountLost();
    if (!meter_.Count(call.due_ns, call.slow)) return End();
    if (options_.rate > 0) {
      idle_.push_back(&call);
    } else {
      Send(call, NowNs(), false);
    }
  }

  // Sends what is due and comes back when the next one is.
  void SendDue() {
    const int64_t now = NowNs();
    if (!meter_.Tick(now)) return End();
    for (; arrivals_->next().due_ns <= now; arrivals_->Advance()) {
      if (idle_.empty())
        idle_.push_back(NewCall(*connections_[calls_.size() % connections_.size()]));
      Call* const call = idle_.back();
      idle_.pop_back();
      Send(*call, arrivals_->next().due_ns, arrivals_->next().slow);
    }
    loop_.RunAt(loop_.Now() + Duration(arrivals_->next().due_ns - now), [this] { SendDue(); });
  }

  void End() {
    if (!std::exchange(has_ended_, true)) ended_.Notify();
  }

  Loop& loop_;
  const LoadOptions options_;
  const std::string payload_ = EchoBytes();
  Meter meter_;
  std::vector<std::unique_ptr<Call>>
      calls_;  // outlive the connections, which answer them at their end
  std::vector<std::unique_ptr<ClientConnection>> connections_;
  std::vector<Call*> idle_;
  std::unique_ptr<Arrivals> arrivals_;
  uint64_t sent_count_ = 0;
  bool has_ended_ = false;
  Notification ended_;
};

int RunServe() {
  const auto server = StartEchoNode("server");
  ReportPort(server->node().call_endpoint().port);
  ServeUntilInputEnds();
  return 0;
}

int RunLoad() {
  const auto world = MakeRealWorld({});
  Loop& loop = **world->StartLoop({.name = "load"});
  Load load(loop, LoadOptionsFromFlags());
  loop.Post([&] { load.Connect(); });
  load.Wait();
  world->Stop();
  return 0;
}

// Calls one after the other until the time is over.
void Ping(Client& client) {
  const ServiceName service("echo");
  const PartitionId partition(0);
  const MethodName method("Echo");
  const std::string payload = EchoBytes();
  while (client.View()->Replicas(service, partition).empty()) {
    this_thread::SleepFor(milliseconds(5));
  }
  const Endpoint to = client.View()->Replicas(service, partition)[0].call_endpoint;
  Meter meter(LoadOptionsFromFlags());
  ClientSession session(client);
  for (int64_t begin = NowNs();; begin = NowNs()) {
    Data response;
    const Status status =
        Call(session, {service, partition, method, AccessMode::kRead}, Data(payload), &response);
    if (!status.ok() || response.bytes() != payload) meter.CountLost();
    if (!meter.Count(begin, false)) return;
    if (FLAGS_fresh) client.loops().Current().client->connections().Drop(to);
  }
}

int RunPing() {
  const auto caller = StartEchoNode("caller");
  caller->Run([&] { Ping(caller->node().client()); });
  return 0;
}

}  // namespace
}  // namespace neptune::peers

int main(int argc, char** argv) {
  const std::string command = neptune::peers::ConsumeCommand(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (command == "serve") return neptune::peers::RunServe();
  if (command == "load") return neptune::peers::RunLoad();
  if (command == "ping") return neptune::peers::RunPing();
  std::fprintf(stderr, "neptune_echo serve|load|ping [OPTIONS]\n");
  return 2;
}
