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
       "Announcements that were damaged or of another cluster.", &metrics.announcements_refused},
      {"neptune_nodes_expired_total", "Nodes forgotten because they were silent.",
       &metrics.nodes_expired},
      {"neptune_nodes_excluded_total", "Nodes excluded because connections to them failed.",
       &metrics.nodes_excluded},
      {"neptune_slow_polls_total", "Load polls that some server did not answer in time.",
       &metrics.slow_polls},
      {"neptune_broken_connections_total",
       "Call connections closed because of what the peer sent or left unread.",
       &metrics.broken_connections},
      {"neptune_refused_connections_total", "Call connections over the limit, closed at once.",
       &metrics.refused_connections},
      {"neptune_late_answers_total",
       "Answers that nobody waited for any more, or that came twice; dropped.",
       &metrics.late_answers},
  };
  for (const auto& [name, help, counter] : counters) {
    NEPTUNE_ASSIGN_OR_RETURN(*counter, registry.AddCounter(name, help));
  }
  return metrics;
}

}  // namespace neptune
