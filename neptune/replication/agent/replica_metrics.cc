#include "neptune/replication/agent/replica_metrics.h"

#include <limits>
#include <string_view>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using State = ReplicaAgent::State;

constexpr std::string_view kRoles[] = {"blank",   "recovering", "secondary", "candidate",
                                       "primary", "peer",       "witness"};

// Number of log entries that are not executed yet.
double EntriesBehind(const State& state) {
  return state.is_witness || state.executed >= state.last_lsn
             ? 0
             : static_cast<double>(state.last_lsn - state.executed);
}

double SecondsBehind(const State& state, TimePoint now) {
  const std::optional<Duration> behind = state.Staleness(now);
  return behind ? ToSeconds(*behind) : std::numeric_limits<double>::quiet_NaN();
}

struct Series {
  const char* name;
  const char* help;
  bool is_counter;
  double (*value)(const State& state, TimePoint now);
};

constexpr Series kSeries[] = {
    {"neptune_replica_committed_lsn",
     "The last log entry that is known to be committed and stored here.", false,
     [](const State& state, TimePoint) { return static_cast<double>(state.committed); }},
    {"neptune_replica_damaged",
     "1 if the replica found its log damaged when it started, and asked the others for it.", false,
     [](const State& state, TimePoint) { return state.damage.ok() ? 0.0 : 1.0; }},
    {"neptune_replica_epoch", "The largest epoch known to the replica.", false,
     [](const State& state, TimePoint) { return static_cast<double>(state.epoch); }},
    {"neptune_replica_executed_lsn", "The last log entry executed on the data.", false,
     [](const State& state, TimePoint) { return static_cast<double>(state.executed); }},
    {"neptune_replica_failed", "1 if the replica stopped because its log or data failed.", false,
     [](const State& state, TimePoint) { return state.failure.ok() ? 0.0 : 1.0; }},
    {"neptune_replica_lag_entries", "Entries of the replica's log that are not executed yet.",
     false, [](const State& state, TimePoint) { return EntriesBehind(state); }},
    {"neptune_replica_lag_seconds", "Maximum staleness of reads at this replica; NaN if unknown.",
     false, &SecondsBehind},
    {"neptune_replica_log_size_bytes", "Size of the log's entries.", false,
     [](const State& state, TimePoint) { return static_cast<double>(state.log_size); }},
    {"neptune_replica_received_lsn", "The last entry in the replica's log, committed or not.",
     false, [](const State& state, TimePoint) { return static_cast<double>(state.last_lsn); }},
    {"neptune_replica_snapshots_sent_total", "Snapshots of its data sent to other members.", true,
     [](const State& state, TimePoint) { return static_cast<double>(state.snapshots_sent); }},
    {"neptune_replica_snapshots_taken_total",
     "Snapshots of other members that replaced the replica's data.", true,
     [](const State& state, TimePoint) { return static_cast<double>(state.snapshots_taken); }},
    {"neptune_replica_write_set_size", "Members that must store a write before it is committed.",
     false,
     [](const State& state, TimePoint) { return static_cast<double>(state.write_set.size()); }},
};

}  // namespace

StatusOr<ReplicaMetrics> ReplicaMetrics::Make(MetricsRegistry& registry, const ReplicaAgent& agent,
                                              const Loop& control) {
  const LogIdentity& identity = agent.options().identity;
  const MetricLabels labels = {{"service", identity.service.value()},
                               {"partition", StrCat(identity.partition)}};
  ReplicaMetrics metrics;
  for (const Series& series : kSeries) {
    const auto value = [&agent, &control, value = series.value] {
      return value(agent.status(), control.Now());
    };
    StatusOr<CallbackGauge> added =
        series.is_counter ? registry.AddCallbackCounter(series.name, series.help, labels, value)
                          : registry.AddCallbackGauge(series.name, series.help, labels, value);
    NEPTUNE_RETURN_IF_ERROR(added.status());
    metrics.series_.push_back(*std::move(added));
  }
  for (const std::string_view role : kRoles) {
    MetricLabels with_role = labels;
    with_role.emplace_back("role", role);
    NEPTUNE_ASSIGN_OR_RETURN(
        CallbackGauge added,
        registry.AddCallbackGauge(
            "neptune_replica_role", "1 for the replica's current role, 0 for the others.",
            with_role, [&agent, role] { return agent.status().RoleName() == role ? 1.0 : 0.0; }));
    metrics.series_.push_back(std::move(added));
  }
  return metrics;
}

}  // namespace neptune
