#include "neptune/replication/agent/replica_totals.h"

#include <string_view>
#include <utility>

namespace neptune {
namespace {

using State = ReplicaAgent::State;

constexpr std::string_view kRoles[] = {"blank",   "recovering", "secondary", "candidate",
                                       "primary", "peer",       "witness"};

struct Sum {
  const char* name;
  const char* help;
  double (*value)(const State& state);
};

constexpr Sum kSums[] = {
    {"neptune_replicas_epochs", "Sum of the replicas' epochs; grows with each election.",
     [](const State& state) { return static_cast<double>(state.epoch); }},
    {"neptune_replicas_executed_entries", "Sum of the last executed log entries of all replicas.",
     [](const State& state) { return static_cast<double>(state.executed); }},
    {"neptune_replicas_log_size_bytes", "Size of the log entries of all replicas.",
     [](const State& state) { return static_cast<double>(state.log_size); }},
    {"neptune_replicas_received_entries", "Sum of the last received log entries of all replicas.",
     [](const State& state) { return static_cast<double>(state.last_lsn); }},
    {"neptune_replicas_resting", "Replicas of idle partitions whose primary sends no heartbeats.",
     [](const State& state) { return state.rests ? 1.0 : 0.0; }},
    {"neptune_replicas_snapshots_sent", "Snapshots that the open replicas have sent.",
     [](const State& state) { return static_cast<double>(state.snapshots_sent); }},
};

}  // namespace

StatusOr<ReplicaTotals> ReplicaTotals::Make(MetricsRegistry& registry, ForEach for_each) {
  ReplicaTotals totals;
  const auto add = [&](const char* name, const char* help, const MetricLabels& labels,
                       std::function<double(const ReplicaKeeper& replica)> value) -> Status {
    const auto sum = [for_each, value = std::move(value)] {
      double total = 0;
      for_each([&](const ReplicaKeeper& replica) { total += value(replica); });
      return total;
    };
    NEPTUNE_ASSIGN_OR_RETURN(CallbackGauge added,
                             registry.AddCallbackGauge(name, help, labels, sum));
    totals.series_.push_back(std::move(added));
    return OkStatus();
  };
  for (const std::string_view role : kRoles) {
    NEPTUNE_RETURN_IF_ERROR(add(
        "neptune_replicas", "Replicas of the node by role.", {{"role", std::string(role)}},
        [role](const auto& replica) { return replica.status().RoleName() == role ? 1.0 : 0.0; }));
  }
  NEPTUNE_RETURN_IF_ERROR(
      add("neptune_replicas_failed", "Replicas of the node that do not work.", {},
          [](const auto& replica) { return replica.health().failure.ok() ? 0.0 : 1.0; }));
  for (const Sum& sum : kSums) {
    NEPTUNE_RETURN_IF_ERROR(add(sum.name, sum.help, {}, [&sum](const auto& replica) {
      return sum.value(replica.status());
    }));
  }
  return totals;
}

}  // namespace neptune
