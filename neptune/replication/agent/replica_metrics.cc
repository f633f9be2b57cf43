#include "neptune/replication/agent/replica_metrics.h"

#include <functional>
#include <limits>
#include <string_view>
#include <utility>

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
    {"neptune_replica_lag_entries", "Entries of the replica's log that are not executed yet.",
     false, [](const State& state, TimePoint) { return EntriesBehind(state); }},
    {"neptune_replica_lag_seconds", "Maximum staleness of reads at this replica; NaN if unknown.",
     false, &SecondsBehind},
    {"neptune_replica_log_size_bytes", "Size of the log's entries.", false,
     [](const State& state, TimePoint) { return static_cast<double>(state.log_size); }},
    {"neptune_replica_received_lsn", "The last entry in the replica's log, committed or not.",
     false, [](const State& state, TimePoint) { return static_cast<double>(state.last_lsn); }},
    {"neptune_replica_snapshot_sent_bytes_total",
     "Bytes of snapshots sent to other members, broken off or not.", true,
     [](const State& state, TimePoint) { return static_cast<double>(state.snapshot_size_sent); }},
    {"neptune_replica_snapshot_taken_bytes_total",
     "Bytes of other members' snapshots that arrived, broken off or not.", true,
     [](const State& state, TimePoint) { return static_cast<double>(state.snapshot_size_taken); }},
    {"neptune_replica_snapshots_sent_total", "Snapshots of its data sent to other members.", true,
     [](const State& state, TimePoint) { return static_cast<double>(state.snapshots_sent); }},
    {"neptune_replica_snapshots_taken_total",
     "Snapshots of other members that replaced the replica's data.", true,
     [](const State& state, TimePoint) { return static_cast<double>(state.snapshots_taken); }},
    {"neptune_replica_write_set_size", "Members that must store a write before it is committed.",
     false,
     [](const State& state, TimePoint) { return static_cast<double>(state.write_set.size()); }},
};

struct HealthSeries {
  const char* name;
  const char* help;
  bool is_counter;
  double (*value)(const ReplicaKeeper::Health& health);
};

constexpr HealthSeries kHealthSeries[] = {
    {"neptune_replica_damages_total",
     "Times that something stored in the replica's data was found damaged.", true,
     [](const ReplicaKeeper::Health& health) { return static_cast<double>(health.damage_count); }},
    {"neptune_replica_failed",
     "1 while the replica does not work because its log or data failed or are being repaired.",
     false, [](const ReplicaKeeper::Health& health) { return health.failure.ok() ? 0.0 : 1.0; }},
    {"neptune_replica_reopens_total", "Times that the replica was opened again after it failed.",
     true,
     [](const ReplicaKeeper::Health& health) { return static_cast<double>(health.reopen_count); }},
    {"neptune_replica_scrubbed_bytes_total", "Stored data that were read back and found sound.",
     true,
     [](const ReplicaKeeper::Health& health) {
       return static_cast<double>(health.scrub.checked_size);
     }},
    {"neptune_replica_scrubs_total", "Complete checks of the replica's stored data.", true,
     [](const ReplicaKeeper::Health& health) {
       return static_cast<double>(health.scrub.pass_count);
     }},
};

// Adds a series of either kind.
StatusOr<CallbackGauge> Add(MetricsRegistry& registry, const auto& series,
                            const MetricLabels& labels, std::function<double()> value) {
  return series.is_counter
             ? registry.AddCallbackCounter(series.name, series.help, labels, std::move(value))
             : registry.AddCallbackGauge(series.name, series.help, labels, std::move(value));
}

}  // namespace

StatusOr<ReplicaMetrics> ReplicaMetrics::Make(MetricsRegistry& registry,
                                              const ReplicaKeeper& keeper, const Loop& control) {
  const LogIdentity& identity = keeper.options().identity;
  const MetricLabels labels = {{"service", identity.service.value()},
                               {"partition", StrCat(identity.partition)}};
  ReplicaMetrics metrics;
  for (const Series& series : kSeries) {
    NEPTUNE_ASSIGN_OR_RETURN(CallbackGauge added,
                             Add(registry, series, labels, [&keeper, &control, &series] {
                               return series.value(keeper.status(), control.Now());
                             }));
    metrics.series_.push_back(std::move(added));
  }
  for (const HealthSeries& series : kHealthSeries) {
    NEPTUNE_ASSIGN_OR_RETURN(CallbackGauge added, Add(registry, series, labels, [&keeper, &series] {
                               return series.value(keeper.health());
                             }));
    metrics.series_.push_back(std::move(added));
  }
  for (const std::string_view role : kRoles) {
    MetricLabels with_role = labels;
    with_role.emplace_back("role", role);
    NEPTUNE_ASSIGN_OR_RETURN(
        CallbackGauge added,
        registry.AddCallbackGauge(
            "neptune_replica_role", "1 for the replica's current role, 0 for the others.",
            with_role, [&keeper, role] { return keeper.status().RoleName() == role ? 1.0 : 0.0; }));
    metrics.series_.push_back(std::move(added));
  }
  return metrics;
}

}  // namespace neptune
