#include "tools/lab/kit/real_load.h"

#include <glog/logging.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/testing/real_node.h"
#include "neptune/thread/synchronization.h"
#include "tools/process/own_group.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::Node;
using neptune::Notification;
using neptune::RealNode;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

const neptune::ServiceName kWork("work");
constexpr Duration kMeetingTimeMax = seconds(10);
constexpr Duration kMeetingLook = milliseconds(10);
constexpr Duration kHeadStart = milliseconds(100);

// One request of the plan; times count from the begin of the load.
struct PlannedRequest {
  Duration at{};
  Duration cost{};
  bool measured = false;
};

Duration FromMs(double ms) { return Duration(std::llround(ms * 1e6)); }

// Draws in the same order as RunLoad, so that both worlds get the same requests under one seed.
std::vector<std::vector<PlannedRequest>> PlanByClient(const SimLoadOptions& load, int client_count,
                                                      uint64_t seed) {
  neptune::RandomSource random(seed);
  std::vector<std::vector<PlannedRequest>> plan(static_cast<size_t>(client_count));
  Duration at{};
  for (uint64_t i = 0; i < load.warm_up_count + load.count; ++i) {
    at += FromMs(load.gap_ms.Sample(random));
    const Duration cost = FromMs(load.service_ms.Sample(random));
    plan[random.Below(plan.size())].push_back({at, cost, i >= load.warm_up_count});
  }
  return plan;
}

neptune::ClusterSpec MakeRealSpec(const SimClusterOptions& options,
                                  const neptune::UniquePort& port) {
  neptune::ClusterSpec spec = MakeClusterSpec(options);
  SetOwnGroup(port, &spec);
  neptune::Parameter* const cpu = spec.mutable_services(0)->add_parameters();
  cpu->set_key("cpu");
  cpu->set_value("emulated");
  return spec;
}

neptune::NodeOptions OptionsOf(const neptune::ClusterSpec& spec, const std::string& name) {
  neptune::NodeOptions options;
  options.spec = spec;
  options.name = neptune::NodeId(name);
  options.modules = [](const std::string&) {
    return StatusOr<std::unique_ptr<neptune::ServiceModule>>(
        std::make_unique<workload::WorkModule>());
  };
  options.with_admin = false;
  return options;
}

// One client's share of the plan. Used on its control loop only.
class ClientLoad {
 public:
  ClientLoad(Node& node, std::vector<PlannedRequest> plan, Duration timeout)
      : node_(node), plan_(std::move(plan)), timeout_(timeout) {}

  // Waits until the client knows `server_count` servers, and returns that time; nullopt after a
  // timeout.
  std::optional<TimePoint> Meet(int server_count) {
    std::optional<TimePoint> met_at;
    Notification done;
    node_.RunOnControl([&] {
      const TimePoint limit = neptune::this_thread::Now() + kMeetingTimeMax;
      while (!met_at && neptune::this_thread::Now() < limit) {
        if (ServerCount() == static_cast<size_t>(server_count)) {
          met_at = neptune::this_thread::Now();
        } else {
          neptune::this_thread::SleepFor(kMeetingLook);
        }
      }
      done.Notify();
    });
    done.WaitForNotification();
    return met_at;
  }

  void Begin(TimePoint begin) {
    node_.RunOnControl([this, begin] {
      neptune::OneShotEvent all_ended;
      open_count_ = plan_.size() + 1;  // one for the loop below, so that it ends last
      const auto end_one = [this, &all_ended] {
        if (--open_count_ == 0) all_ended.Set();
      };
      for (const PlannedRequest& request : plan_) {
        neptune::this_thread::SleepUntil(begin + request.at);
        const auto spawned =
            neptune::ThreadScheduler::Current()->Spawn([this, begin, &request, &end_one] {
              CallOnce(request, begin + request.at);
              end_one();
            });
        if (!spawned.ok()) end_one();
      }
      end_one();
      all_ended.Wait();
      ended_.Notify();
    });
  }

  std::vector<SimOutcome> Wait() {
    ended_.WaitForNotification();
    return std::move(outcomes_);
  }

 private:
  size_t ServerCount() const {
    return node_.View()->Replicas(kWork, neptune::PartitionId(0)).size();
  }

  void CallOnce(const PlannedRequest& request, TimePoint at) {
    neptune::ClientSession session(node_.client());
    neptune::Data response;
    neptune::CallReport report;
    const Status status =
        neptune::Call(session,
                      {kWork, neptune::PartitionId(0), neptune::MethodName(workload::kWorkMethod),
                       neptune::AccessMode::kRead},
                      neptune::Data(workload::WorkRequest(request.cost)), &response,
                      {.deadline = at + timeout_}, &report);
    if (!request.measured) return;
    outcomes_.push_back({at, request.cost, neptune::this_thread::Now() - at, status.code(),
                         SimCluster::ServerNumber(report.server), report.attempts});
  }

  Node& node_;
  const std::vector<PlannedRequest> plan_;
  const Duration timeout_;
  size_t open_count_ = 0;
  std::vector<SimOutcome> outcomes_;
  Notification ended_;
};

}  // namespace

StatusOr<SimLoadResult> RunRealLoad(const SimClusterOptions& options, const SimLoadOptions& load,
                                    uint64_t seed) {
  CHECK_NE(options.balancing, "ideal");
  const neptune::UniquePort port;
  const neptune::ClusterSpec spec = MakeRealSpec(options, port);
  std::map<std::string, std::unique_ptr<RealNode>> nodes;
  for (const neptune::NodeSpec& node : spec.nodes()) {
    nodes[node.name()] = std::make_unique<RealNode>(OptionsOf(spec, node.name()));
    NEPTUNE_RETURN_IF_ERROR(nodes[node.name()]->Start());
  }
  std::vector<std::vector<PlannedRequest>> plan = PlanByClient(load, options.client_count, seed);
  std::vector<std::unique_ptr<ClientLoad>> clients;
  SimLoadResult result;
  for (int i = 0; i < options.client_count; ++i) {
    clients.push_back(std::make_unique<ClientLoad>(
        nodes.at(StrCat("c", i))->node(), std::move(plan[static_cast<size_t>(i)]), load.timeout));
    const std::optional<TimePoint> met_at = clients.back()->Meet(options.server_count);
    if (!met_at) {
      return neptune::Unavailable("client ", i, " does not find all ", options.server_count,
                                  " servers within ", neptune::ToSeconds(kMeetingTimeMax), " s");
    }
    result.began = *met_at + kHeadStart;  // the last one's counts
  }
  for (const auto& client : clients) client->Begin(result.began);
  for (const auto& client : clients) {
    for (SimOutcome& outcome : client->Wait()) result.outcomes.push_back(std::move(outcome));
  }
  return result;
}

}  // namespace search::lab
