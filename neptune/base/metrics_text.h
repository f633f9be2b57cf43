// The Prometheus text format 0.0.4: grammar of names, escaping and numbers.
//
// Source: Prometheus documentation, "Exposition formats".
// Threads: pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/histogram.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"

namespace neptune::metrics_text {

bool IsMetricName(std::string_view name);
// Names that begin with "__" are reserved by Prometheus.
bool IsLabelName(std::string_view name);

// Returns name="value",... ordered by name, with values escaped. This is the text between the
// braces and also identifies a series. Errors: INVALID_ARGUMENT a bad or repeated name, or a limit
// of metrics.h.
StatusOr<std::string> LabelText(MetricLabels labels);

// Appends the # HELP and # TYPE lines.
void AppendHead(std::string_view name, std::string_view help, std::string_view type,
                std::string* out);
void AppendSample(std::string_view name, std::string_view labels, uint64_t value, std::string* out);
void AppendSample(std::string_view name, std::string_view labels, double value, std::string* out);
// Appends the _bucket, _sum and _count lines.
void AppendHistogram(std::string_view name, std::string_view labels, const Histogram& histogram,
                     const HistogramMetricOptions& options, std::string* out);

}  // namespace neptune::metrics_text
