// Demanding questions, most of them asked before, replayed against a search of processes as a balancer sends them that
// knows that frontends fail; and whether the answers say truly what is in them.
//
// Source: none. Layer: tools.
// Threads: one caller at a time.
// Units: seconds since a replay began.
// Errors: those of the loads and of the ledger.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/lab/coverage_ledger.h"
#include "tools/lab/http_load.h"
#include "tools/lab/made_index.h"
#include "tools/lab/search_processes.h"
#include "tools/replay/measurement.h"
#include "tools/replay/replay_plan.h"

namespace search::lab {

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

class SearchReplay {
 public:
  using Measurements = std::vector<tools::Measurement>;

  // REQUIRES: both outlive it.
  SearchReplay(const MadeIndex& index, const SearchProcesses& search)
      : index_(index), search_(search) {}

  // Queries a second that would take all processors, by what the same stream costs of their time at a tenth of what the
  // index alone could do.
  neptune::StatusOr<double> Capacity(double length_s, uint64_t seed);

  neptune::StatusOr<Measurements> Run(tools::ReplayPlan plan, std::vector<TimedAction> actions);
  // Another version of the index that answers may come from. REQUIRES: it outlives this.
  void AddVersion(const MadeIndex& other) { other_ = &other; }
  // Of some measurements of the last Run.
  neptune::StatusOr<CoverageCounts> CountCoverage(const Measurements& measurements,
                                                  const Outage& outage) const;

 private:
  double CountDifferent(const Measurements& measurements) const;

  const MadeIndex& index_;
  const SearchProcesses& search_;
  const MadeIndex* other_ = nullptr;
  tools::ReplayPlan plan_;
  std::map<uint32_t, CoverageClaim> claims_;  // by request
};

}  // namespace search::lab
