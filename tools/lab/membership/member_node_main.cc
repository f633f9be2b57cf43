// One node of member_detect in the real world: serves or calls, records what it knows, and executes
// commands.
//
//   member_node --cluster=NAME --multicast_port=PORT --node=s3 [--balancing=random]
//   member_node --burn=4        keeps 4 kernel threads busy until the end of its input
//
// Commands, one per line, and their answers:
//   now                ns of the machine's monotonic clock
//   wait MS            "ok", after that time
//   hang, normal       "ok"; requests hang, or continue
//   load RATE COST_MS DEADLINE_MS, unload   "ok"; starts and stops an open loop of calls
//   leave              "left", when the node has stopped
//   report             "sight NS KNOWN OFFERED" (names separated by commas), "hurt NS NS OK",
//                      "count CALLS EXPELLED", then "end"
// It exits at the end of its input.

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/node/node.h"
#include "neptune/service/client.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/real/real_world.h"
#include "tools/lab/membership/detection.h"
#include "tools/workload/work_module.h"

DEFINE_string(cluster, "members", "name of the cluster");
DEFINE_uint32(multicast_port, 7435, "multicast port of the cluster");
DEFINE_string(node, "s0", "name of this node");
DEFINE_string(balancing, "poll", "balancing policy, as in the cluster spec");
DEFINE_int32(burn, 0, "instead of running a node, keep this many kernel threads busy");

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::LeafLock;
using neptune::Node;
using neptune::StrAppend;
using neptune::StrCat;
using neptune::TimePoint;
using std::chrono::milliseconds;
using workload::Conduct;

constexpr Duration kLook = milliseconds(10);
constexpr Duration kLeaveGrace = std::chrono::seconds(2);

neptune::ClusterSpec Spec() {
  std::string text =
      StrCat("name: '", FLAGS_cluster, "' multicast_group: '239.192.7.5:", FLAGS_multicast_port,
             "' balancing: '", FLAGS_balancing,
             "' services { name: 'work' module: 'work' concurrency: 1 parameters { key: 'cpu' "
             "value: 'emulated' } } services { name: 'idle' module: 'work' }");
  for (int i = 0; i < kDetectionServerCount; ++i) {
    StrAppend(&text, " nodes { name: 's", i, "' hosts { service: 'work' } }");
  }
  for (int i = 0; i < kDetectionCallerCount; ++i) {
    StrAppend(&text, " nodes { name: 'c", i, "' hosts { service: 'idle' } }");
  }
  const auto spec = neptune::ParseClusterSpec(text, "member_node");
  CHECK(spec.ok()) << spec.status();
  return *spec;
}

std::string Join(const std::set<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) StrAppend(&joined, joined.empty() ? "" : ",", name);
  return joined.empty() ? "-" : joined;
}

// Records each change of the node's knowledge, on a separate loop.
class Observer {
 public:
  Observer(Node& node, neptune::Loop& loop) : node_(node), loop_(loop) {
    loop_.Post([this] { Check(); });
  }

  std::string Report() const {
    LeafLock lock(&mutex_);
    std::string text;
    for (const Sight& sight : sights_) {
      StrAppend(&text, "sight ", sight.at.time_since_epoch().count(), " ", Join(sight.known), " ",
                Join(sight.offered), "\n");
    }
    return text;
  }

 private:
  void Check() {
    const auto view = node_.View();
    Sight sight{loop_.Now(), {}, {}};
    for (const auto& said : view->nodes()) sight.known.insert(said->node.value());
    for (const auto& replica :
         view->Replicas(neptune::ServiceName("work"), neptune::PartitionId(0))) {
      sight.offered.insert(replica.node.value());
    }
    {
      LeafLock lock(&mutex_);
      if (sights_.empty() || sights_.back().known != sight.known ||
          sights_.back().offered != sight.offered) {
        sights_.push_back(std::move(sight));
      }
    }
    loop_.RunAt(loop_.Now() + kLook, [this] { Check(); });
  }

  Node& node_;
  neptune::Loop& loop_;
  mutable neptune::LeafMutex mutex_;
  std::vector<Sight> sights_ ABSL_GUARDED_BY(mutex_);
};

// Offers an open loop of calls.
class Caller {
 public:
  explicit Caller(Node& node) : node_(node) {}

  void Begin(int rate, Duration cost, Duration deadline) {
    calling_ = true;
    node_.RunOnControl([this, gap = Duration(std::chrono::seconds(1)) / rate, cost, deadline] {
      TimePoint next = neptune::this_thread::Now();
      while (calling_) {
        (void)neptune::ThreadScheduler::Current()->Spawn(
            [this, next, cost, deadline] { CallOnce(next, cost, deadline); });
        next += gap;
        if (neptune::this_thread::SleepUntil(next) == neptune::ParkResult::kStopping) return;
      }
    });
  }
  void End() { calling_ = false; }

  uint64_t call_count() const { return call_count_; }
  std::string Report() const {
    LeafLock lock(&mutex_);
    std::string text;
    for (const HurtCall& call : hurt_) {
      StrAppend(&text, "hurt ", call.begin.time_since_epoch().count(), " ",
                call.end.time_since_epoch().count(), " ", call.ok ? 1 : 0, "\n");
    }
    return text;
  }

 private:
  void CallOnce(TimePoint begin, Duration cost, Duration deadline) {
    neptune::ClientSession session(node_.client());
    neptune::Data response;
    neptune::CallReport report;
    const neptune::Status status =
        neptune::Call(session,
                      {neptune::ServiceName("work"), neptune::PartitionId(0),
                       neptune::MethodName(workload::kWorkMethod), neptune::AccessMode::kRead},
                      neptune::Data(workload::WorkRequest(cost)), &response,
                      {.deadline = begin + deadline}, &report);
    const TimePoint end = neptune::this_thread::Now();
    ++call_count_;
    if (status.ok() && report.attempts <= 1) return;
    LeafLock lock(&mutex_);
    hurt_.push_back({begin, end, status.ok()});
  }

  Node& node_;
  std::atomic<bool> calling_{false};
  std::atomic<uint64_t> call_count_{0};
  mutable neptune::LeafMutex mutex_;
  std::vector<HurtCall> hurt_ ABSL_GUARDED_BY(mutex_);
};

class MemberNode {
 public:
  MemberNode() : world_(neptune::MakeRealWorld({})), conduct_(std::make_shared<Conduct>()) {
    neptune::NodeOptions options;
    options.spec = Spec();
    options.name = neptune::NodeId(FLAGS_node);
    options.modules = [this](const std::string&) {
      return std::make_unique<workload::WorkModule>(conduct_);
    };
    options.with_admin = false;
    node_ = std::make_unique<Node>(*world_, std::move(options));
    neptune::Notification started;
    node_->Start([&](const neptune::Status& status) {
      CHECK(status.ok()) << status;
      started.Notify();
    });
    started.WaitForNotification();
    const auto loop = world_->StartLoop({.name = "observe"});
    CHECK(loop.ok()) << loop.status();
    loop_ = *loop;
    observer_ = std::make_unique<Observer>(*node_, *loop_);
    caller_ = std::make_unique<Caller>(*node_);
  }
  ~MemberNode() { world_->Stop(); }

  // Returns the answer to a line of input.
  std::string Do(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "now") return StrCat(loop_->Now().time_since_epoch().count());
    if (verb == "report") return Report();
    if (verb == "leave") return Leave();
    if (verb == "hang") conduct_->kind = Conduct::Kind::kHung;
    if (verb == "normal") conduct_->kind = Conduct::Kind::kNormal;
    if (verb == "unload") caller_->End();
    if (verb == "wait") Wait(words);
    if (verb == "load") Load(words);
    return "ok";
  }

 private:
  void Wait(std::istringstream& words) {
    int64_t ms = 0;
    words >> ms;
    neptune::Notification over;
    loop_->Post([&] { loop_->RunAt(loop_->Now() + milliseconds(ms), [&] { over.Notify(); }); });
    over.WaitForNotification();
  }

  void Load(std::istringstream& words) {
    int rate = 1;
    int64_t cost_ms = 1;
    int64_t deadline_ms = 1000;
    words >> rate >> cost_ms >> deadline_ms;
    caller_->Begin(rate, milliseconds(cost_ms), milliseconds(deadline_ms));
  }

  std::string Leave() {
    neptune::Notification stopped;
    node_->Stop(kLeaveGrace, [&] { stopped.Notify(); });
    stopped.WaitForNotification();
    return "left";
  }

  std::string Report() {
    int64_t expelled = 0;
    for (const char* counter : {"neptune_nodes_expired_total", "neptune_nodes_excluded_total"}) {
      expelled += node_->metrics().Value(counter, {}).value_or(0);
    }
    return StrCat(observer_->Report(), caller_->Report(), "count ", caller_->call_count(), " ",
                  expelled, "\nend");
  }

  std::unique_ptr<neptune::World> world_;
  const std::shared_ptr<Conduct> conduct_;
  std::unique_ptr<Node> node_;
  neptune::Loop* loop_ = nullptr;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<Caller> caller_;
};

// Keeps threads busy until the process is killed or its input ends.
int Burn() {
  std::atomic<bool> burning{true};
  std::vector<std::thread> threads;
  for (int i = 0; i < FLAGS_burn; ++i) {
    threads.emplace_back([&] {
      while (burning.load(std::memory_order_relaxed)) {
      }
    });
  }
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  burning = false;
  for (std::thread& thread : threads) thread.join();
  return 0;
}

int Serve() {
  MemberNode node;
  std::cout << "ready" << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::string answer = node.Do(line);
    std::cout << answer << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace search::lab

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  FLAGS_minloglevel = google::GLOG_ERROR;
  google::InitGoogleLogging(argv[0]);
  return FLAGS_burn > 0 ? search::lab::Burn() : search::lab::Serve();
}
