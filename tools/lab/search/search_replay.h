// Replays demanding queries, most of them repeated, against a search of processes, like a balancer
// that fails over between frontends; and checks the coverage that the answers state.
//
// Threads: one caller at a time.
// Units: seconds since a replay began.
// Errors: those of the loads and of the ledger.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/http_load.h"
#include "tools/lab/search/coverage_ledger.h"
#include "tools/lab/search/search_processes.h"
#include "tools/lab/workloads/synthetic_index.h"
#include "tools/replay/measurement.h"
#include "tools/replay/replay_plan.h"

namespace search::lab {

// Half of the time in which answers have full yield in every class, so that a trial of a rate ends
// before its queue grows long.
inline constexpr double kSustainedP99S = 0.25;

// Poisson arrivals of the classes of search_load.h; 0.7 of the queries are repeated, by Zipf's law.
neptune::StatusOr<tools::ReplayPlan> DemandingReplay(double rate, double length_s, uint64_t seed);

struct CoverageCounts {
  double looked_at = 0;  // all partial answers, and about 300 others
  double untrue = 0;
  // Complete answers with other results than another complete answer to the same query with the
  // same version of the index; and answers of an unknown version.
  double different = 0;
  double partial = 0;
  double unexplained = 0;  // partial answers that the outage does not explain
  double quality_mean = 0;
};

// Nodes that are down, which explains missing partitions.
struct Outage {
  std::vector<std::string> nodes;
  double begin_s = 0;
  double end_s = 0;
};

// How to measure the sustained rate of a search.
struct SustainedLoad {
  double length_s = 0;  // of the trial of each rate, whose last two thirds are judged
  uint64_t seed = 1;
  // Whether queries bypass the query cache, as they do after a new version of the index.
  bool past_caches = false;
  // For runs that judge no times: returns the rate that would use all processors instead.
  bool is_estimate = false;
};

class SearchReplay {
 public:
  using Measurements = std::vector<tools::Measurement>;

  // REQUIRES: both outlive it.
  SearchReplay(const SyntheticIndex& index, const SearchProcesses& search)
      : index_(index), search_(search) {}

  // Queries a second that would use all processors, derived from the processor time of the same
  // stream at a tenth of the capacity of the index alone.
  neptune::StatusOr<double> Capacity(double length_s, uint64_t seed);
  // Queries a second that the search sustains in an open loop, within 7 %: none fails and p99 is at
  // most kSustainedP99S. At most the rate that would use all processors.
  // Errors: kUnavailable it does not sustain a sixty-fourth of that rate.
  neptune::StatusOr<double> SustainableRate(const SustainedLoad& how);

  neptune::StatusOr<Measurements> Run(tools::ReplayPlan plan, std::vector<TimedAction> actions);
  // Adds another version of the index, from which answers may come. REQUIRES: `other` outlives this
  // object.
  void AddVersion(const SyntheticIndex& other) { other_ = &other; }
  // Checks some measurements of the last Run.
  neptune::StatusOr<CoverageCounts> CountCoverage(const Measurements& measurements,
                                                  const Outage& outage) const;
  // Adds the same as untrue_count, looked_at_count, different_count, partial_percent,
  // unexplained_percent, quality_mean.
  neptune::Status AddCoverage(const Measurements& measurements, const Outage& outage,
                              Measurement* measured) const;
  // Adds the number of failures by cause: "failed: 429 Too many requests at once".
  void AddFailureCauses(const Measurements& measurements, Measurement* measured) const;

 private:
  neptune::StatusOr<Measurements> Ask(tools::ReplayPlan plan, std::vector<TimedAction> actions,
                                      std::string headers);
  neptune::StatusOr<double> ProcessorRate(const SustainedLoad& how);
  neptune::StatusOr<bool> Sustains(double rate, const SustainedLoad& how, uint64_t tried);
  double CountDifferent(const Measurements& measurements) const;

  const SyntheticIndex& index_;
  const SearchProcesses& search_;
  const SyntheticIndex* other_ = nullptr;
  tools::ReplayPlan plan_;
  std::map<uint32_t, CoverageClaim> claims_;  // by request
  std::map<uint32_t, std::string> refusals_;  // by request, the cause
};

// Adds rows of a point: failed queries, at most `failed_percent_max`, with a note of the causes;
// answers with a wrong coverage. `name` is the suffix of the names of the rows.
void JudgeAnswers(const Results& results, const Point& point, const std::string& name,
                  double failed_percent_max, Judgement* judgement);

}  // namespace search::lab
