// Demanding questions, most of them asked before, replayed against a search of processes as a balancer sends them that
// knows that frontends fail; and whether the answers say truly what is in them.
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

// Half of the time in which an answer is worth all to every class: what is tried is over before a queue has grown long.
inline constexpr double kSustainedP99S = 0.25;

// Poisson arrivals of the classes of search_load.h; seven tenths of the questions were asked before, by Zipf's law.
neptune::StatusOr<tools::ReplayPlan> DemandingReplay(double rate, double length_s, uint64_t seed);

struct CoverageCounts {
  double looked_at = 0;  // all that were partial, and some 300 others
  double untrue = 0;
  // Complete, and other results than another complete answer of the same version of the index gave to the same question;
  // or of a version that nobody has.
  double different = 0;
  double partial = 0;
  double unexplained = 0;  // partial, and the outage does not explain it
  double quality_mean = 0;
};

// Nodes that are down, which explains that answers lack their partitions.
struct Outage {
  std::vector<std::string> nodes;
  double begin_s = 0;
  double end_s = 0;
};

// How it is found out what a search can do for long.
struct SustainedLoad {
  double length_s = 0;  // of each rate that is tried; of its last two thirds is judged
  uint64_t seed = 1;
  // Whether queries go past the query cache, as they do after a new version of the index has become current.
  bool past_caches = false;
  // For runs that judge no times: what would take all processors is taken for it.
  bool is_estimate = false;
};

class SearchReplay {
 public:
  using Measurements = std::vector<tools::Measurement>;

  // REQUIRES: both outlive it.
  SearchReplay(const SyntheticIndex& index, const SearchProcesses& search)
      : index_(index), search_(search) {}

  // Queries a second that would take all processors, by what the same stream costs of their time at a tenth of what the
  // index alone could do.
  neptune::StatusOr<double> Capacity(double length_s, uint64_t seed);
  // Queries a second that it answers in an open loop, to 7 %: none fails and p99 is at most kSustainedP99S. At most
  // what would take all processors. Errors: kUnavailable it does not sustain a sixty-fourth of that.
  neptune::StatusOr<double> SustainableRate(const SustainedLoad& how);

  neptune::StatusOr<Measurements> Run(tools::ReplayPlan plan, std::vector<TimedAction> actions);
  // Another version of the index that answers may come from. REQUIRES: it outlives this.
  void AddVersion(const SyntheticIndex& other) { other_ = &other; }
  // Of some measurements of the last Run.
  neptune::StatusOr<CoverageCounts> CountCoverage(const Measurements& measurements,
                                                  const Outage& outage) const;
  // The same as untrue_count, looked_at_count, different_count, partial_percent, unexplained_percent, quality_mean.
  neptune::Status AddCoverage(const Measurements& measurements, const Outage& outage,
                              Measurement* measured) const;
  // How many failed for what cause, in what was said to them: "failed: 429 Too many requests at once".
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

// Rows of a point: queries that fail, at most that many percent, with a note of the causes; answers of untrue coverage.
// `name` follows what the rows are called.
void JudgeAnswers(const Results& results, const Point& point, const std::string& name,
                  double failed_percent_max, Judgement* judgement);

}  // namespace search::lab
