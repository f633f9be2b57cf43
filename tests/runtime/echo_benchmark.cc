// Whole echo calls over loopback: frames, service host, the method, metrics. The server is a
// process of its own, so that its processor time is known: the figure is calls per second of server
// processor time.
//
//   bazel run //tests/runtime:echo_benchmark             nodes that trust their network
//   bazel run //tests/runtime:echo_benchmark -- KEYFILE  with a cluster key
//
// If there is no key, the first two loads are also offered to a bare server: a process with one
// epoll loop that cuts the frames, reads the fields of the header and answers, with one write for
// each read. It verifies no checksum, counts nothing and has no limits. The ratio is printed.
//
// Loads: 64 connections with one call in flight each, and one connection with 64 calls in flight:
// of echoes, of 25 us of work, and of calls that are refused because nothing of their service is
// free, which is what refusing costs.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "neptune/base/byte_order.h"
#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/node/echo_module.h"
#include "neptune/node/node.h"
#include "neptune/security/cluster_key.h"
#include "neptune/security/secure_network.h"
#include "neptune/testing/real_node.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/client_connection.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

constexpr int kRoundCount = 7;
constexpr Duration kRoundTime = std::chrono::milliseconds(700);

constexpr Duration kWork = std::chrono::microseconds(25);

ClusterSpec EchoCluster() {
  const auto spec = ParseClusterSpec(
      StrCat("name: 'echo-benchmark-", getpid(), "' multicast_group: '239.192.7.3:7433' ",
             "services { name: 'echo' module: 'bench' concurrency: 1 queue_length_max: 1 } "
             "nodes { name: 'n' hosts { service: 'echo' } }"),
      "echo_benchmark");
  return *spec;
}

// The echo module, and
//   Spin   short  25 us of work
//   Doze   long   until its deadline: with one at work and one that waits, further ones are refused
class BenchModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName("Spin"), {},
                             [](RequestContext& request, const Data& given, Data* response) {
                               this_thread::Consume(request.world().processors(), kWork);
                               *response = given;
                               return OkStatus();
                             });
    context.registrar.Method(
        MethodName("Doze"), {.grain = Grain::kLong},
        [](RequestContext& request, const Data&, Data*) { return request.SleepUntil(kNever); });
    return echo_.Start(context);
  }
  std::string implementation() const override { return "bench"; }

 private:
  EchoModule echo_;
};

// The server process: runs one node until it is killed; reports its port through `ready_pipe`.
[[noreturn]] void Serve(int ready_pipe, const std::string& key_file) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  NodeOptions options;
  options.spec = EchoCluster();
  options.spec.set_cluster_key_file(key_file);
  options.name = NodeId("n");
  options.modules = [](const std::string&) { return std::make_unique<BenchModule>(); };
  const auto server = StartRealNode(std::move(options));
  const uint16_t port = server->node().call_endpoint().port;
  if (write(ready_pipe, &port, sizeof(port)) != sizeof(port)) _exit(1);
  while (true) pause();
}

// The bytes of one connection that are not answered yet, and its answers.
struct BareConnection {
  std::string buffer;
  std::string answers;

  void AnswerAll() {
    size_t at = 0;
    while (buffer.size() - at >= kFramePrefixSize) {
      ByteReader prefix(std::string_view(buffer).substr(at, kFramePrefixSize));
      prefix.Bytes(8);  // magic number, version, type, flags
      const auto call = prefix.Number<uint64_t>();
      const auto section_size = prefix.Number<uint32_t>();
      const auto payload_size = prefix.Number<uint32_t>();
      const size_t whole = kFramePrefixSize + section_size + payload_size;
      if (buffer.size() - at < whole) break;
      const std::string_view frame = std::string_view(buffer).substr(at, whole);
      if (Understands(frame.substr(kFramePrefixSize, section_size))) {
        AppendResponse(call, {}, frame.substr(kFramePrefixSize + section_size), &answers);
      }
      at += whole;
    }
    buffer.erase(0, at);
  }

  static bool Understands(std::string_view section) {
    ByteReader reader(section);
    reader.Bytes(1 + 4 + 8 + 3 * 8);  // flags, partition, time left, trace
    const std::string_view service = reader.Counted<uint8_t>();
    const std::string_view method = reader.Counted<uint8_t>();
    reader.Counted<uint8_t>();  // class
    return reader.finished() && service == "echo" && method == "Echo";
  }
};

// The bare server's process; as Serve.
[[noreturn]] void ServeBare(int ready_pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener, 1024) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    _exit(1);
  }
  const int poller = epoll_create1(0);
  const auto watch = [&](int socket) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = socket}};
    epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event);
  };
  watch(listener);
  const uint16_t port = ntohs(address.sin_port);
  if (write(ready_pipe, &port, sizeof(port)) != sizeof(port)) _exit(1);
  std::unordered_map<int, BareConnection> connections;
  std::vector<epoll_event> events(256);
  std::string bytes(64 * 1024, '\0');
  while (true) {
    const int count = epoll_wait(poller, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int from = events[static_cast<size_t>(i)].data.fd;
      if (from == listener) {
        const int accepted = accept(listener, nullptr, nullptr);
        const int on = 1;
        setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        watch(accepted);
        continue;
      }
      const ssize_t received = recv(from, bytes.data(), bytes.size(), 0);
      if (received <= 0) {
        close(from);
        connections.erase(from);
        continue;
      }
      BareConnection& connection = connections[from];
      connection.buffer.append(bytes, 0, static_cast<size_t>(received));
      connection.AnswerAll();
      (void)send(from, connection.answers.data(), connection.answers.size(), MSG_NOSIGNAL);
      connection.answers.clear();
    }
  }
}

// Starts `serve` in a process of its own; returns the process and its port.
template <typename Function>
std::pair<pid_t, uint16_t> StartServer(Function serve) {
  int ready_pipe[2];
  uint16_t port = 0;
  if (pipe(ready_pipe) != 0) _exit(1);
  const pid_t process = fork();
  if (process == 0) serve(ready_pipe[1]);
  if (read(ready_pipe[0], &port, sizeof(port)) != sizeof(port)) _exit(1);
  return {process, port};
}

double ProcessorSeconds(pid_t process) {
  clockid_t clock;
  timespec used{};
  clock_getcpuclockid(process, &clock);
  clock_gettime(clock, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

struct Load {
  const char* name;
  int connection_count;
  int depth;
  const char* method = "Echo";
  StatusCode answer = StatusCode::kOk;  // others do not count
};

// Keeps the load's calls in flight on one connection.
class Caller final {
 public:
  Caller(std::unique_ptr<Stream> stream, const Load& load, const std::string& payload,
         int64_t* count)
      : connection_(std::move(stream), {}),
        payload_(payload),
        wanted_(load.answer),
        count_(*count) {
    header_.service = ServiceName("echo");
    header_.method = MethodName(load.method);
    header_.time_left = std::chrono::seconds(10);
    connection_.Start([](const Status&) {});
    for (int i = 0; i < load.depth; ++i) slots_.push_back(std::make_unique<Slot>(*this));
    for (const auto& slot : slots_) Send(slot.get());
  }

 private:
  struct Slot final : public AnswerSink {
    explicit Slot(Caller& caller) : caller(caller) {}
    void OnAnswer(StatusOr<CallAnswer>&& answer) override {
      if (!answer.ok()) return;
      if (answer->header.status.code() == caller.wanted_) ++caller.count_;
      caller.Send(this);
    }
    Caller& caller;
  };
  void Send(Slot* slot) { (void)connection_.Call(header_, payload_, slot); }

  std::vector<std::unique_ptr<Slot>>
      slots_;  // outlive the connection, which answers them at its end
  ClientConnection connection_;
  const std::string& payload_;
  const StatusCode wanted_;
  RequestHeader header_;
  int64_t& count_;
};

class Bench {
 public:
  Bench(pid_t server, uint16_t port, const std::string& key_file)
      : server_(server),
        port_(port),
        world_(MakeRealWorld({})),
        loop_(*world_->StartLoop({.name = "callers"})) {
    if (key_file.empty()) return;
    SecureNetworkOptions options;
    options.keys = std::make_shared<const ClusterKeys>(*LoadClusterKeys(key_file));
    OnLoop([&] { secured_ = std::make_unique<SecureNetwork>(*loop_, options); });
    network_ = secured_.get();
  }
  ~Bench() {
    OnLoop([&] { secured_.reset(); });
    world_->Stop();
  }

  // Calls per second of server processor time, and per second of the wall.
  std::pair<double, double> Round(const Load& load) {
    Connect(load);
    Rest(kRoundTime / 4);
    const auto [count, time] = Progress();
    const double used = ProcessorSeconds(server_);
    Rest(kRoundTime);
    const auto [count_after, time_after] = Progress();
    const double used_after = ProcessorSeconds(server_);
    OnLoop([&] { callers_.clear(); });
    const auto calls = static_cast<double>(count_after - count);
    return {calls / (used_after - used), calls / ToSeconds(time_after - time)};
  }

 private:
  void OnLoop(absl::AnyInvocable<void()> work) {
    Notification done;
    loop_->Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  }
  void Rest(Duration time) {
    Notification over;
    loop_->Post([&] { loop_->RunAt(loop_->Now() + time, [&] { over.Notify(); }); });
    over.WaitForNotification();
  }
  std::pair<int64_t, TimePoint> Progress() {
    std::pair<int64_t, TimePoint> progress;
    OnLoop([&] { progress = {count_, loop_->Now()}; });
    return progress;
  }

  void Connect(const Load& load) {
    Notification connected;
    int left = load.connection_count;
    loop_->Post([&] {
      for (int i = 0; i < load.connection_count; ++i) {
        network_->Connect({kLoopbackAddress, port_}, loop_->Now() + std::chrono::seconds(10),
                          [&](StatusOr<std::unique_ptr<Stream>> stream) {
                            callers_.push_back(std::make_unique<Caller>(*std::move(stream), load,
                                                                        payload_, &count_));
                            if (--left == 0) connected.Notify();
                          });
      }
    });
    connected.WaitForNotification();
  }

  const pid_t server_;
  const uint16_t port_;
  const std::string payload_ = std::string(128, 'x');
  std::unique_ptr<World> world_;
  Loop* const loop_;
  std::unique_ptr<Network> secured_;
  Network* network_ = &loop_->network();
  std::vector<std::unique_ptr<Caller>> callers_;
  int64_t count_ = 0;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The load on the node; on the bare server too, in turns, if `bare` is not null.
void Measure(const Load& load, Bench& node, Bench* bare) {
  std::vector<double> per_processor;
  std::vector<double> per_second;
  std::vector<double> ratios;
  for (int i = 0; i < kRoundCount; ++i) {
    const auto [processor, wall] = node.Round(load);
    per_processor.push_back(processor);
    per_second.push_back(wall);
    if (bare != nullptr) ratios.push_back(processor / bare->Round(load).first);
  }
  std::printf("%-28s %9.0f calls per server processor second, %6.2f us each, %9.0f a second",
              load.name, Median(per_processor), 1e6 / Median(per_processor), Median(per_second));
  if (bare != nullptr) std::printf(", %.2f x the bare server", Median(ratios));
  std::printf("\n");
  std::fflush(stdout);
}

int RunBenchmark(const std::string& key_file) {
  // Before any thread is made.
  const auto [server, port] = StartServer([&](int ready) { Serve(ready, key_file); });
  const auto [bare_server, bare_port] = StartServer(ServeBare);
  {
    Bench node(server, port, key_file);
    std::unique_ptr<Bench> bare;
    if (key_file.empty()) bare = std::make_unique<Bench>(bare_server, bare_port, key_file);
    Measure({"64 connections", 64, 1}, node, bare.get());
    Measure({"1 connection, 64 in flight", 1, 64}, node, bare.get());
    for (const Load& load :
         {Load{"25 us of work", 1, 64, "Spin"}, Load{"25 us, 64 connections", 64, 1, "Spin"},
          Load{"refused, 64 connections", 64, 1, "Doze", StatusCode::kResourceExhausted},
          Load{"refused", 1, 64, "Doze", StatusCode::kResourceExhausted}}) {
      Measure(load, node, nullptr);
    }
  }
  for (const pid_t process : {server, bare_server}) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  return 0;
}

}  // namespace
}  // namespace neptune

int main(int argc, char** argv) { return neptune::RunBenchmark(argc > 1 ? argv[1] : ""); }
