#include "tools/lab/capsules/dependency_run.h"

#include <glog/logging.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/examples/client/operators_module.h"
#include "neptune/node/node.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/sim/simulator.h"
#include "tools/lab/capsules/waiting_inside.h"
#include "tools/lab/kit/host_faults.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::FromSeconds;
using neptune::Node;
using neptune::NodeId;
using neptune::Simulator;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;
using neptune::TimePoint;
using neptune::ToSeconds;
using workload::ScriptEvent;
using ModulePointer = std::unique_ptr<neptune::ServiceModule>;

constexpr char kClient[] = "client";
constexpr char kFront[] = "front";
constexpr char kAsker[] = "asker";
// Long enough for all nodes to receive the first announcements.
constexpr Duration kStartTime = std::chrono::milliseconds(1500);

// The pool of the front or of a back end.
uint32_t PoolOf(const neptune::ServiceSpec& service, const DependencyScheme& scheme) {
  if (scheme.isolation == Isolation::kUnboundedPool) return kDependencyUnbounded;
  return service.name() == kFront ? static_cast<uint32_t>(scheme.pool) : kDependencyBackEndPool;
}

// The front's capsules, one for each dependency; none if it has no isolation by capsules.
std::string CapsulesOf(const DependencyOptions& options) {
  std::string capsules;
  if (options.scheme.isolation != Isolation::kCapsules) return capsules;
  for (size_t i = 0; i < options.service.dependencies.size(); ++i) {
    StrAppend(&capsules, " capsules { name: 'dependency-", i, "' match: '",
              options.service.dependencies[i], "'", options.scheme.capsule_fields, " }");
  }
  return capsules;
}

}  // namespace

// Random choice, so that calls reach the dead replica.
neptune::ClusterSpec DependencySpec(const DependencyOptions& options) {
  auto spec = neptune::ParseClusterSpec(
      StrCat("name: 'lab' multicast_group: '239.192.7.1:7400' balancing: 'random'",
             options.service.spec, " nodes { name: '", kFront, "'", CapsulesOf(options),
             " hosts { service: '", kFront,
             "' } } services { name: 'asker' module: 'asker' } nodes { name: '", kClient,
             "' hosts { service: 'asker' } }"),
      "lab");
  CHECK(spec.ok()) << spec.status();
  for (neptune::ServiceSpec& service : *spec->mutable_services()) {
    service.set_concurrency(PoolOf(service, options.scheme));
    service.set_queue_length_max(kDependencyQueueMax);
    service.set_wait_share_max(
        1);  // as the papers' servers, which refuse nothing that may still be in time
  }
  return *std::move(spec);
}

neptune::NodeOptions DependencyNodeOptions(const DependencyOptions& options,
                                           const neptune::ClusterSpec& spec,
                                           const std::string& node) {
  neptune::NodeOptions made;
  made.spec = spec;
  made.name = NodeId(node);
  made.modules =
      [modules = options.service.modules](const std::string& module) -> StatusOr<ModulePointer> {
    if (module != kAsker) return modules(module);
    return std::make_unique<neptune::examples::OperatorsModule>([](neptune::ModuleContext&) {});
  };
  made.with_admin = false;
  if (options.scheme.isolation != Isolation::kCapsules) {
    made.modules = WaitInside(std::move(made.modules), neptune::ServiceName(kFront));
    made.with_default_capsule = false;
  }
  // Ignores missing answers and stalls: the paper detects failures only by expired announcements.
  made.yellow_page.expiry = options.detection;
  made.yellow_page.quarantine_timeout = kDependencyUndetected;
  made.stall_timeout = kDependencyUndetected;
  return made;
}

DependencyOutcome AskFront(const DependencyOptions& options, Node& client, uint64_t number,
                           TimePoint due, TimePoint zero) {
  const DependencyRequest request = options.service.request(options.seed, number);
  neptune::ClientSession session(client.client());
  neptune::Data answer;
  const Status status = neptune::Call(
      session,
      {neptune::ServiceName(kFront), neptune::PartitionId(0), request.method, request.access},
      request.data, &answer, {.deadline = due + kDependencyLostAfter, .attempts_max = 1});
  return {
      .arrived_s = ToSeconds(due - zero),
      .response_s = ToSeconds(neptune::this_thread::Now() - due),
      .answered = status.ok(),
      .quality = status.ok() ? options.service.quality(answer) : 0,
      .from_cache = status.ok() && options.service.from_cache && options.service.from_cache(answer),
      .status = status.code()};
}

namespace {

class Run {
 public:
  explicit Run(const DependencyOptions& options)
      : options_(options),
        spec_(DependencySpec(options)),
        nodes_({.seed = options.seed,
                .sim = {.network = neptune::kPaperCluster},
                .make_options =
                    [this](const std::string& name) {
                      return DependencyNodeOptions(options_, spec_, name);
                    }}),
        random_(options.seed) {
    nodes_.AddAll(spec_, kDependencyNode);
    simulator_.RunFor(kStartTime);
    zero_ = simulator_.now() + FromSeconds(options.warm_up_s);
  }

  Status PlanFaults() {
    for (const ScriptEvent& event : options_.script) {
      if (!nodes_.contains(event.node)) {
        return neptune::InvalidArgument("the script names '", event.node, "', which is not a node");
      }
      simulator_.At(zero_ + event.at, [this, event] {
        CHECK(ApplyToHost(event, simulator_)) << "only whole hosts fail here";
      });
    }
    if (!options_.cut) return neptune::OkStatus();
    if (!nodes_.contains(options_.cut->node)) {
      return neptune::InvalidArgument("no node '", options_.cut->node, "' to cut off");
    }
    simulator_.At(zero_ + FromSeconds(options_.cut->begin_s),
                  [this] { CutOff(options_.cut->node); });
    simulator_.At(zero_ + FromSeconds(options_.cut->end_s), [this] { simulator_.HealAll(); });
    return neptune::OkStatus();
  }

  DependencyResult OfferAll() {
    const TimePoint end = zero_ + FromSeconds(options_.duration_s);
    TimePoint at = simulator_.now();
    for (uint64_t number = 0;; ++number) {
      at += FromSeconds(random_.Exponential(1 / options_.rate_per_s));
      if (at >= end) break;
      ++offered_count_;
      simulator_.At(at, [this, number, at] { Offer(number, at); });
    }
    simulator_.RunUntil(end);
    while (ended_count_ < offered_count_) simulator_.RunFor(std::chrono::milliseconds(100));
    return std::move(result_);
  }

 private:
  void CutOff(const std::string& node) {
    std::set<std::string> others;
    for (const std::string& name : simulator_.host_names()) {
      if (name != node) others.insert(name);
    }
    simulator_.Partition({node}, others);
  }

  void Offer(uint64_t number, TimePoint at) {
    Node& client = nodes_.node(kClient);
    client.RunOnControl([this, number, at, &client] {
      const DependencyOutcome outcome = AskFront(options_, client, number, at, zero_);
      ++ended_count_;
      if (at >= zero_) result_.outcomes.push_back(outcome);
    });
  }

  const DependencyOptions& options_;
  const neptune::ClusterSpec spec_;
  neptune::SimulatedNodes nodes_;
  Simulator& simulator_ = nodes_.simulator();
  neptune::RandomSource random_;
  TimePoint zero_;
  uint64_t offered_count_ = 0;
  uint64_t ended_count_ = 0;
  DependencyResult result_;
};

// The mean of `value` over the outcomes that satisfy `belongs`; 0 if there are none.
double MeanOf(const std::vector<DependencyOutcome>& outcomes, auto belongs, auto value) {
  double sum = 0;
  double count = 0;
  for (const DependencyOutcome& one : outcomes) {
    if (!belongs(one)) continue;
    sum += value(one);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

auto ArrivedIn(double begin_s, double end_s) {
  return [=](const DependencyOutcome& one) {
    return one.arrived_s >= begin_s && one.arrived_s < end_s;
  };
}

auto AnsweredOf(double begin_s, double end_s) {
  return [arrived = ArrivedIn(begin_s, end_s)](const DependencyOutcome& one) {
    return one.answered && arrived(one);
  };
}

// The sum of `value` per second over the answers that arrived in that time.
double RateOf(const std::vector<DependencyOutcome>& outcomes, double begin_s, double end_s,
              auto value) {
  double sum = 0;
  for (const DependencyOutcome& one : outcomes) {
    const double came_s = one.arrived_s + one.response_s;
    if (one.answered && came_s >= begin_s && came_s < end_s) sum += value(one);
  }
  return sum / (end_s - begin_s);
}

}  // namespace

double DependencyResult::LossPercent(double begin_s, double end_s) const {
  return 100 * MeanOf(outcomes, ArrivedIn(begin_s, end_s),
                      [](const DependencyOutcome& one) { return one.answered ? 0.0 : 1.0; });
}

double DependencyResult::QualityLossPercent(double begin_s, double end_s) const {
  return 100 * MeanOf(outcomes, ArrivedIn(begin_s, end_s),
                      [](const DependencyOutcome& one) { return 1 - one.quality; });
}

double DependencyResult::MeanMs(double begin_s, double end_s) const {
  return MeanOf(outcomes, AnsweredOf(begin_s, end_s),
                [](const DependencyOutcome& one) { return 1e3 * one.response_s; });
}

double DependencyResult::HitPercent(double begin_s, double end_s) const {
  return 100 * MeanOf(outcomes, AnsweredOf(begin_s, end_s),
                      [](const DependencyOutcome& one) { return one.from_cache ? 1.0 : 0.0; });
}

double DependencyResult::AnsweredPerSecond(double begin_s, double end_s) const {
  return RateOf(outcomes, begin_s, end_s, [](const DependencyOutcome&) { return 1.0; });
}

double DependencyResult::QualityPerSecond(double begin_s, double end_s) const {
  return RateOf(outcomes, begin_s, end_s, [](const DependencyOutcome& one) { return one.quality; });
}

StatusOr<DependencyResult> RunDependency(const DependencyOptions& options) {
  Run run(options);
  NEPTUNE_RETURN_IF_ERROR(run.PlanFaults());
  return run.OfferAll();
}

}  // namespace search::lab
