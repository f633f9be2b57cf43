#include "neptune/dac/aggregation_environment.h"

namespace neptune {

StatusOr<AggregationCounters> AggregationCounters::Make(MetricsRegistry& metrics) {
  AggregationCounters counters;
  const auto add = [&](Counter** counter, const char* name, const char* help) -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(*counter, metrics.AddCounter(name, help, {}));
    return OkStatus();
  };
  NEPTUNE_RETURN_IF_ERROR(add(&counters.pruned_children, "neptune_dac_pruned_children_total",
                              "Children of aggregations pruned without an answer."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.adopted_children, "neptune_dac_adopted_children_total",
                              "Children of a lost child adopted by its parent."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.lost_datagrams, "neptune_dac_lost_datagrams_total",
                              "Children that had not received their task datagram."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.silent_children, "neptune_dac_silent_children_total",
                              "Children that did not accept their task in time."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.moved_partitions, "neptune_dac_moved_partitions_total",
                              "Partitions of a lost child moved to another replica."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.order_errors, "neptune_dac_order_errors_total",
                              "Reductions whose result depended on the operand order."));
  return counters;
}

}  // namespace neptune
