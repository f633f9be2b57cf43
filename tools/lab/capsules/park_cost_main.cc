// The cost of a wait of a request, and of a call that a helper thread executes; for cap_migration.
//
//   park_cost --rounds=N --blocks=N     prints one line: NAME_ns=VALUE ...
//
//   round      a long request of a node and another thread exchange bytes over a socket: the
//              request leaves its main pool, enters a capsule, parks, is woken, leaves, and
//              returns; the other thread only parks
//   pair       the same between two threads outside capsules: each parks
//   bare       only the system calls of both
//   device     a byte written to /dev/null through a device capsule, on its helper thread
//   handoff    the same with two kernel threads that hand the call to each other
//
// Runs all of these in one process, alternately. The first three are processor time of their
// thread, the last two elapsed time. This program must be interposed.

#include <gflags/gflags.h>
#include <glog/logging.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/interpose/call_permit.h"
#include "neptune/interpose/libc.h"
#include "neptune/node/node.h"
#include "neptune/world/real/real_world.h"

DEFINE_int32(rounds, 5000, "number of rounds in a block");
DEFINE_int32(blocks, 10, "number of blocks of each kind; the kinds alternate");
DEFINE_int32(device_rounds, 1000, "number of device calls and of hand-offs in a block");
DEFINE_uint32(multicast_port, 7434, "multicast port of the node; no other node may use it");

namespace search::lab {
namespace {

using neptune::StrCat;
using neptune::interpose::RealLibc;

int64_t NowNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Nanoseconds of one of `count` calls.
double TimeOf(clockid_t clock, int count, const std::function<void()>& call) {
  const int64_t begin = NowNs(clock);
  for (int i = 0; i < count; ++i) call();
  return static_cast<double>(NowNs(clock) - begin) / count;
}

// A connected pair of sockets, in the abstract namespace, so that no file remains.
class Connection {
 public:
  Connection() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "park-cost-%d", getpid());
    const auto* const plain = reinterpret_cast<const sockaddr*>(&address);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    PCHECK(bind(listener, plain, sizeof(address)) == 0 && listen(listener, 1) == 0);
    asking = socket(AF_UNIX, SOCK_STREAM, 0);
    PCHECK(connect(asking, plain, sizeof(address)) == 0);
    answering = accept(listener, nullptr, nullptr);
    PCHECK(answering >= 0);
    close(listener);
  }
  ~Connection() {
    close(asking);
    close(answering);
  }
  int asking = -1;
  int answering = -1;
};

// A second thread answers the calling one.
class PingPong {
 public:
  PingPong(int asking, int answering) : asking_(asking) {
    other_ = *neptune::ThreadScheduler::Current()->Spawn([answering] {
      char byte;
      while (read(answering, &byte, 1) == 1) PCHECK(write(answering, &byte, 1) == 1);
    });
    neptune::this_thread::Yield();
  }
  ~PingPong() {
    shutdown(asking_, SHUT_RDWR);
    (void)neptune::ThreadScheduler::Current()->Join(*other_.get(), neptune::kNever);
  }
  void Round() {
    char byte = 'x';
    PCHECK(write(asking_, &byte, 1) == 1 && read(asking_, &byte, 1) == 1);
  }

 private:
  const int asking_;
  neptune::ThreadRef other_;
};

// The system calls of a PingPong on a loop of the runtime: each turn polls the poller of its
// descriptors, and every ninth turn the outer poller, which watches it.
class Bare {
 public:
  Bare() : outer_(epoll_create1(0)), inner_(epoll_create1(0)) {
    PCHECK(RealLibc().socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()) == 0);
    Control(outer_, EPOLL_CTL_ADD, inner_, kAbove);
    for (const int end : ends_) {
      Control(inner_, EPOLL_CTL_ADD, end, EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET);
    }
  }
  ~Bare() {
    for (const int fd : {outer_, inner_, ends_[0], ends_[1]}) close(fd);
  }
  void Round() {
    Half(ends_[0], ends_[1]);
    Half(ends_[1], ends_[0]);
  }

 private:
  static constexpr uint32_t kAbove = EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLPRI | EPOLLET;
  static constexpr int kTurnCount = 9;

  static void Control(int poller, int operation, int fd, uint32_t events) {
    epoll_event event{};
    event.events = events;
    PCHECK(epoll_ctl(poller, operation, fd, &event) == 0);
  }
  void Half(int from, int to) {
    char byte = 'x';
    PCHECK(RealLibc().write(from, &byte, 1) == 1);
    PCHECK(RealLibc().read(from, &byte, 1) == -1);  // nothing can be read
    if (++turn_ % kTurnCount == 0) {
      Control(outer_, EPOLL_CTL_MOD, inner_, kAbove);
      PCHECK(RealLibc().epoll_wait(outer_, events_.data(), 128, -1) == 1);
    }
    PCHECK(RealLibc().epoll_wait(inner_, events_.data(), 64, 0) >= 1);
    PCHECK(RealLibc().read(to, &byte, 1) == 1);
  }

  const int outer_;
  const int inner_;
  int turn_ = 0;
  std::array<int, 2> ends_{-1, -1};
  std::array<epoll_event, 128> events_{};
};

// A kernel thread that executes calls, and notifies the caller's poller of their end.
class HandOff {
 public:
  HandOff() : asked_(eventfd(0, 0)), poller_(epoll_create1(0)), helper_([this] { Serve(); }) {
    epoll_event event{};
    event.events = EPOLLIN;
    PCHECK(epoll_ctl(poller_, EPOLL_CTL_ADD, asked_, &event) == 0);
  }
  ~HandOff() {
    Hand([] {});
    {
      absl::MutexLock lock(&mutex_);
      ends_ = true;
      wake_.Signal();
    }
    helper_.join();
    close(asked_);
    close(poller_);
  }
  void Hand(std::function<void()> call) {
    {
      absl::MutexLock lock(&mutex_);
      call_ = std::move(call);
      wake_.Signal();
    }
    epoll_event event{};
    PCHECK(RealLibc().epoll_wait(poller_, &event, 1, -1) == 1);
    uint64_t count = 0;
    PCHECK(RealLibc().read(asked_, &count, sizeof(count)) == sizeof(count));
  }

 private:
  void Serve() {
    for (;;) {
      std::function<void()> call;
      {
        absl::MutexLock lock(&mutex_);
        while (call_ == nullptr && !ends_) wake_.Wait(&mutex_);
        if (call_ == nullptr) return;
        call = std::exchange(call_, nullptr);
      }
      call();
      const uint64_t one = 1;
      PCHECK(RealLibc().write(asked_, &one, sizeof(one)) == sizeof(one));
    }
  }

  const int asked_;
  const int poller_;
  absl::Mutex mutex_;
  absl::CondVar wake_;
  std::function<void()> call_ ABSL_GUARDED_BY(mutex_);
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread helper_;
};

// Means over the blocks.
struct Costs {
  double round = 0;
  double pair = 0;
  double bare = 0;
  double device = 0;
  double handoff = 0;

  std::string Text() const {
    const double park = (pair - bare) / 2;
    return StrCat("park_ns=", park, " migration_ns=", round - bare - park, " round_ns=", round,
                  " pair_ns=", pair, " bare_ns=", bare, " device_ns=", device,
                  " handoff_ns=", handoff);
  }
};

void MeasureInPlace(Costs* costs) {
  const Connection connection;
  int ends[2];
  PCHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  {
    PingPong in_capsule(connection.asking, connection.answering);
    PingPong in_none(ends[0], ends[1]);
    Bare bare;
    for (int i = 0; i < FLAGS_blocks; ++i) {
      const auto each = [&](const std::function<void()>& call) {
        return TimeOf(CLOCK_THREAD_CPUTIME_ID, FLAGS_rounds, call) / FLAGS_blocks;
      };
      costs->round += each([&] { in_capsule.Round(); });
      costs->pair += each([&] { in_none.Round(); });
      costs->bare += each([&] { bare.Round(); });
    }
  }
  close(ends[0]);
  close(ends[1]);
}

void MeasureDevice(Costs* costs) {
  const int device = open("/dev/null", O_WRONLY);
  PCHECK(device >= 0);
  HandOff handoff;
  for (int i = 0; i < FLAGS_blocks; ++i) {
    const auto each = [&](const std::function<void()>& call) {
      return TimeOf(CLOCK_MONOTONIC, FLAGS_device_rounds, call) / FLAGS_blocks;
    };
    costs->device += each([&] { PCHECK(write(device, "x", 1) == 1); });
    costs->handoff +=
        each([&] { handoff.Hand([device] { PCHECK(RealLibc().write(device, "x", 1) == 1); }); });
  }
  close(device);
}

class ParkCostModule final : public neptune::ServiceModule {
 public:
  neptune::Status Start(neptune::ModuleContext& context) override {
    context.registrar.Method(
        neptune::MethodName("Measure"), {.grain = neptune::Grain::kLong},
        [](neptune::RequestContext&, const neptune::Data&, neptune::Data* response) {
          Costs costs;
          MeasureInPlace(&costs);
          MeasureDevice(&costs);
          *response = neptune::Data(costs.Text());
          return neptune::OkStatus();
        });
    return neptune::OkStatus();
  }
  std::string implementation() const override { return "park-cost"; }
};

neptune::NodeOptions Options() {
  const auto spec =
      neptune::ParseClusterSpec(StrCat("name: 'park-cost-", getpid(),
                                       "' multicast_group: '239.192.7.4:", FLAGS_multicast_port,
                                       "' services { name: 'cost' module: 'cost' } ",
                                       "nodes { name: 'node' hosts { service: 'cost' } }"),
                                "park_cost");
  CHECK(spec.ok()) << spec.status();
  neptune::NodeOptions options;
  options.spec = *spec;
  options.name = neptune::NodeId("node");
  options.modules = [](const std::string&) { return std::make_unique<ParkCostModule>(); };
  return options;
}

neptune::CapsuleConfig NullDevice() {
  neptune::CapsuleConfig config;
  config.name = "null";
  config.type = neptune::ResourceType::kDevice;
  config.rules = {*neptune::ClassificationRule::Parse("disk:/dev/null")};
  config.processing_count_max = 1;
  return config;
}

// Calls the node's own service, on its control loop.
neptune::Status Measure(neptune::Client& client, std::string* text) {
  const neptune::ServiceName service("cost");
  while (client.View()->Replicas(service, neptune::PartitionId(0)).empty()) {
    neptune::this_thread::SleepFor(std::chrono::milliseconds(5));
  }
  neptune::ClientSession session(client);
  session.default_timeout = std::chrono::minutes(5);
  neptune::Data response;
  NEPTUNE_RETURN_IF_ERROR(
      neptune::Call(session,
                    {service, neptune::PartitionId(0), neptune::MethodName("Measure"),
                     neptune::AccessMode::kRead},
                    neptune::Data(std::string()), &response));
  *text = response.bytes();
  return neptune::OkStatus();
}

int RunParkCost() {
  const auto world = neptune::MakeRealWorld({});
  neptune::CapsuleStack capsules({.make_helpers = [&](const std::string& name, int count) {
    return world->MakeHelperThreads(name, count);
  }});
  neptune::Node node(*world, Options());
  neptune::Notification started;
  node.Start([&](const neptune::Status& status) {
    CHECK(status.ok()) << status;
    started.Notify();
  });
  started.WaitForNotification();
  neptune::Notification done;
  neptune::Status status;
  std::string text;
  node.RunOnControl([&] {
    status = capsules.Create(NullDevice());
    neptune::interpose::UseCapsules(&capsules);
    if (status.ok()) status = Measure(node.client(), &text);
    done.Notify();
  });
  done.WaitForNotification();
  std::printf("%s\n", status.ok() ? text.c_str() : status.ToString().c_str());
  std::fflush(stdout);
  neptune::interpose::UseCapsules(nullptr);
  world->Stop();
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace search::lab

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return search::lab::RunParkCost();
}
