#include <algorithm>
#include <functional>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/lab/kit/sim_cluster.h"
#include "tools/lab/membership/detection.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::Node;
using neptune::Simulator;
using neptune::StrCat;
using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The sampling interval of views, and the times of the real world's scenarios.
constexpr Duration kLook = milliseconds(10);
constexpr Duration kCalm = milliseconds(1500);
constexpr Duration kAftermath = seconds(7);
constexpr Duration kCut = seconds(8);
constexpr double kDatagramLoss = 0.3;

SimClusterOptions Options(const std::string& scenario, uint64_t seed) {
  SimClusterOptions options;
  options.seed = seed;
  options.balancing = DetectionBalancing(scenario);
  options.server_count = kDetectionServerCount;
  options.client_count = kDetectionCallerCount;
  options.network = neptune::kVariedCluster;
  return options;
}

class SimDetection {
 public:
  SimDetection(const std::string& scenario, const RunContext& context)
      : scenario_(scenario), context_(context), cluster_(Options(scenario, context.seed)) {
    for (int i = 0; i < kDetectionServerCount; ++i) names_.push_back(StrCat("s", i));
    for (int i = 0; i < kDetectionCallerCount; ++i) names_.push_back(StrCat("c", i));
  }

  DetectionNotes Run() {
    notes_.event = simulator().now() + kCalm;
    simulator().At(notes_.event, [this] { Happen(); });
    const TimePoint end = notes_.event + Aftermath();
    Check(end);
    RunLoadUntil(end);
    simulator().RunUntil(end);
    if (gone_ || scenario_ == "pause") notes_.sights.erase(kDetectionVictim);
    for (const auto& [name, sights] : notes_.sights) CountExpelled(name);
    return std::move(notes_);
  }

 private:
  Simulator& simulator() { return cluster_.simulator(); }
  Node& node(const std::string& name) {
    const int number = std::stoi(name.substr(1));
    return name[0] == 's' ? cluster_.server(number) : cluster_.client(number);
  }

  Duration Aftermath() const {
    if (scenario_ == "loss") return context_.Pick(seconds(20), seconds(120), seconds(600));
    return scenario_ == "cut" ? kCut + kAftermath : kAftermath;
  }

  void Happen() {
    const std::string victim = kDetectionVictim;
    if (scenario_ == "kill") {
      gone_ = true;
      simulator().Crash(victim, neptune::CrashKind::kProcess);
    } else if (scenario_ == "leave") {
      node(victim).Stop(seconds(2), [this, victim] {
        simulator().At(simulator().now(), [this, victim] {
          gone_ = true;
          simulator().Crash(victim, neptune::CrashKind::kProcess);
        });
      });
    } else if (scenario_ == "pause") {
      simulator().Pause(victim);
    } else if (scenario_ == "hang") {
      (void)cluster_.Schedule({{.kind = workload::ScriptEvent::Kind::kHang, .node = victim}});
    } else if (scenario_ == "loss") {
      auto links = simulator().links();
      links.datagram_loss = kDatagramLoss;
      simulator().SetLinks(links);
    } else if (scenario_ == "cut") {
      Cut();
    }
  }

  // The event is the healing, after which views must become equal.
  void Cut() {
    const std::set<std::string> left(names_.begin(), names_.begin() + names_.size() / 2);
    const std::set<std::string> right(names_.begin() + names_.size() / 2, names_.end());
    const auto cut = simulator().Partition(left, right);
    notes_.event += kCut;
    simulator().At(notes_.event, [this, cut] { simulator().Heal(cut); });
  }

  void Check(TimePoint end) {
    for (const std::string& name : names_) {
      if (simulator().host(name).running() && !simulator().host(name).paused()) CheckNode(name);
    }
    if (simulator().now() < end)
      simulator().At(simulator().now() + kLook, [this, end] { Check(end); });
  }

  void CheckNode(const std::string& name) {
    if (gone_ && name == kDetectionVictim) return;
    const auto view = node(name).View();
    if (seen_versions_.contains(name) && seen_versions_[name] == view->version()) return;
    seen_versions_[name] = view->version();
    Sight sight{simulator().now(), {}, {}};
    for (const auto& said : view->nodes()) sight.known.insert(said->node.value());
    for (const auto& replica :
         view->Replicas(neptune::ServiceName("work"), neptune::PartitionId(0))) {
      sight.offered.insert(replica.node.value());
    }
    std::vector<Sight>& sights = notes_.sights[name];
    if (!sights.empty() && sights.back().known == sight.known &&
        sights.back().offered == sight.offered) {
      return;
    }
    sights.push_back(std::move(sight));
  }

  void RunLoadUntil(TimePoint end) {
    SimLoadOptions load;
    const double per_second = kDetectionRate * kDetectionCallerCount;
    load.gap_ms = workload::Distribution::Exponential(1e3 / per_second);
    load.service_ms = workload::Distribution::Exponential(neptune::ToMillis(kDetectionCost));
    load.count = static_cast<uint64_t>(per_second * neptune::ToSeconds(end - simulator().now()));
    load.timeout = kDetectionDeadline;
    const SimLoadResult result = RunLoad(cluster_, load, context_.seed);
    notes_.call_count = result.outcomes.size();
    for (const SimOutcome& outcome : result.outcomes) {
      const bool ok = outcome.status == neptune::StatusCode::kOk;
      if (ok && outcome.attempts <= 1) continue;
      notes_.hurt.push_back({outcome.arrived, outcome.arrived + outcome.response, ok});
    }
  }

  void CountExpelled(const std::string& name) {
    for (const char* counter : {"neptune_nodes_expired_total", "neptune_nodes_excluded_total"}) {
      const auto count = node(name).metrics().Value(counter, {});
      if (count.ok()) notes_.expelled_count += static_cast<uint64_t>(*count);
    }
  }

  const std::string scenario_;
  const RunContext& context_;
  std::vector<std::string> names_;
  std::map<std::string, uint64_t> seen_versions_;
  DetectionNotes notes_;
  bool gone_ = false;
  SimCluster cluster_;
};

}  // namespace

neptune::StatusOr<DetectionNotes> DetectInSim(const std::string& scenario,
                                              const RunContext& context) {
  return SimDetection(scenario, context).Run();
}

}  // namespace search::lab
