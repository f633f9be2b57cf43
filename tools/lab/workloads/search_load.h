// The parts that experiments with load on a whole search share: index, classes, criteria of
// answers.
//
// Threads: pure functions, except SearchIndex, which one caller at a time may call.
// Units: seconds since a load began.

#pragma once

#include <cstddef>
#include <vector>

#include "neptune/base/status.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/http_load.h"
#include "tools/lab/workloads/synthetic_index.h"

namespace search::lab {

inline constexpr double kSearchProcessors = 2;

// Service classes in cluster spec syntax: gold, silver and bronze yield 4, 2 and 1 within half a
// second and half of that at one second; each is guaranteed a fifth.
extern const char kSearchClasses[];

// The number of documents; small in smoke runs.
size_t SearchDocumentCount(const RunContext& context);
// The index of these documents.
neptune::StatusOr<const SyntheticIndex*> SearchIndex(const RunContext& context);

// Load on the search at `server`, with parsed answers. The caller sets the rate and the queries.
HttpLoadOptions SearchLoad(const neptune::Endpoint& server, const RunContext& context);

// True if the answer covers all partitions, is not cut short, and came within a second.
bool IsGoodAnswer(const tools::Measurement& one);

// The measurements of requests that were due in [begin, end).
std::vector<tools::Measurement> DueIn(const std::vector<tools::Measurement>& measurements,
                                      double begin_s, double end_s);

// The quantile `share` of their latencies; 0.99 is the 99th percentile. 0 if there are none.
double LatencyQuantileS(const std::vector<tools::Measurement>& measurements, double share);

// Adds failed_percent, failed_by_OUTCOME, hit_percent (cache hits) and offered_per_s of the
// requests that were due in `length_s`.
void AddOutcomes(const std::vector<tools::Measurement>& measurements, double length_s,
                 Measurement* measured);

// An experiment on real sockets with one run at a time; the caller sets name, texts and functions.
Experiment SearchExperiment();

}  // namespace search::lab
