#include "neptune/node/node_metrics.h"

namespace neptune {

StatusOr<NodeMetrics> NodeMetrics::Make(MetricsRegistry& registry) {
  NodeMetrics metrics;
  const struct {
    const char* name;
    const char* help;
    Counter** counter;
  } counters[] = {
      {"neptune_announcements_refused_total",
       "Announcements dropped: damaged, or of another cluster.", &metrics.announcements_refused},
      {"neptune_nodes_expired_total", "Nodes removed because their announcements stopped.",
       &metrics.nodes_expired},
      {"neptune_nodes_excluded_total", "Nodes excluded because connections to them failed.",
       &metrics.nodes_excluded},
      {"neptune_slow_polls_total", "Load polls not answered by every server in time.",
       &metrics.slow_polls},
      {"neptune_broken_connections_total",
       "Call connections closed: malformed input or unread answers.", &metrics.broken_connections},
      {"neptune_refused_connections_total", "Call connections over the limit, closed at once.",
       &metrics.refused_connections},
      {"neptune_late_answers_total", "Answers dropped: late or duplicate.", &metrics.late_answers},
  };
  for (const auto& [name, help, counter] : counters) {
    NEPTUNE_ASSIGN_OR_RETURN(*counter, registry.AddCounter(name, help));
  }
  return metrics;
}

}  // namespace neptune
