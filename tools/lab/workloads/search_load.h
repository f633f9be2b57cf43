// What experiments that load a whole search have in common: the index, the classes, which answers are good.
//
// Threads: pure functions but for SearchIndex, which one caller at a time may call.
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

// In the cluster spec's words: gold, silver and bronze, worth 4, 2 and 1 within half a second and half of it at one, each
// guaranteed a fifth.
extern const char kSearchClasses[];

// How many documents it has: few in smoke runs.
size_t SearchDocumentCount(const RunContext& context);
// Their index.
neptune::StatusOr<const SyntheticIndex*> SearchIndex(const RunContext& context);

// A load on a search at `server`, of which answers are read. Its rate and its questions are the caller's.
HttpLoadOptions SearchLoad(const neptune::Endpoint& server, const RunContext& context);

// Complete, of all partitions and not cut, and within a second.
bool IsGoodAnswer(const tools::Measurement& one);

// Those that were due in [begin, end).
std::vector<tools::Measurement> DueIn(const std::vector<tools::Measurement>& measurements,
                                      double begin_s, double end_s);

// Which part of them took at most that many seconds: share 0.99 is the 99th percentile. 0 of none.
double LatencyQuantileS(const std::vector<tools::Measurement>& measurements, double share);

// Of what was due in `length_s`: failed_percent and failed_by_OUTCOME, hit_percent (the cache's), offered_per_s.
void AddOutcomes(const std::vector<tools::Measurement>& measurements, double length_s,
                 Measurement* measured);

// One that runs on real sockets, one run at a time; its name, texts and functions are the caller's.
Experiment SearchExperiment();

}  // namespace search::lab
