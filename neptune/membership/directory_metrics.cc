#include "neptune/membership/directory_metrics.h"

namespace neptune {

StatusOr<DirectoryMetrics> DirectoryMetrics::Make(MetricsRegistry& registry) {
  DirectoryMetrics metrics;
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics.failures,
      registry.AddCounter("neptune_directory_failures_total", "Failed requests to the directory."));
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics.refused,
      registry.AddCounter("neptune_directory_refused_total",
                          "Directory entries that are not announcements of the cluster."));
  NEPTUNE_ASSIGN_OR_RETURN(metrics.available,
                           registry.AddGauge("neptune_directory_available",
                                             "1 while the directory of announcements answers."));
  return metrics;
}

}  // namespace neptune
