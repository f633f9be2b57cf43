// One run of a capsule paper's service under one scheme, with something failing on the way: what all cap_ experiments
// share.
//
//   client ── open loop ──► front ──► what it depends on, of which a part fails by script
//
// A scheme is how the front's requests wait:
//   BTP     each holds its place in a bounded pool while it waits
//   UTP     each has a thread of its own, without bound
//   DC      it gives its place back, and waits in the capsule of what it depends on
//   DC+LT   and is turned away where too many wait already
//   DC+FB   and waits the shorter the more do, until it passes the dependency by
//
// Source: [Chu05] VI.A-VI.E.
// Threads: RunDependency on the calling thread; several runs may be in several threads.
// Units: virtual time; the run's clock begins after the warm-up, and scripts count from then.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "tools/lab/capsules/dependency_parameters.h"
#include "tools/lab/capsules/dependency_services.h"
#include "tools/lab/engine/results.h"
#include "tools/workload/script.h"

namespace search::lab {

// How the front's requests wait.
enum class Isolation {
  kBoundedPool,    // BTP
  kUnboundedPool,  // UTP
  kCapsules,       // DC
};

struct DependencyScheme {
  Isolation isolation = Isolation::kBoundedPool;
  int pool = kDependencyMainPool;  // of the front; all are unbounded with kUnboundedPool
  // What each of the front's capsules has beside its rule.
  std::string capsule_fields{};
};

struct DependencyOptions {
  uint64_t seed = 1;
  DependencyService service;
  DependencyScheme scheme;
  // Poisson.
  double rate_per_s = 10;
  double warm_up_s = kDependencyWarmUpS;
  double duration_s = kDependencyRunS;
  std::vector<workload::ScriptEvent> script{};
  // The node whose link is down from the one to the other.
  struct Cut {
    std::string node;
    double begin_s = 0;
    double end_s = 0;
  };
  std::optional<Cut> cut{};
  // Silence after which a node is forgotten.
  neptune::Duration detection = kDependencyUndetected;
};

// What became of one request.
struct DependencyOutcome {
  double arrived_s = 0;  // on the run's clock
  double response_s = 0;
  bool answered = false;  // in time
  double quality = 0;     // 0 if it was not
  bool from_cache = false;
  neptune::StatusCode status = neptune::StatusCode::kOk;
};

// Of what arrived in [begin_s, end_s), unless it says otherwise.
struct DependencyResult {
  std::vector<DependencyOutcome> outcomes;

  double LossPercent(double begin_s, double end_s) const;
  // Each request weighed by what it lacks.
  double QualityLossPercent(double begin_s, double end_s) const;
  // Of requests answered.
  double MeanMs(double begin_s, double end_s) const;
  // Of requests answered, those from a cache.
  double HitPercent(double begin_s, double end_s) const;
  // Answers that came in that time, a second.
  double AnsweredPerSecond(double begin_s, double end_s) const;
  double QualityPerSecond(double begin_s, double end_s) const;
};

// The cluster of a run, in either world: its spec, and what a node of it is told.
neptune::ClusterSpec DependencySpec(const DependencyOptions& options);
neptune::NodeOptions DependencyNodeOptions(const DependencyOptions& options,
                                           const neptune::ClusterSpec& spec,
                                           const std::string& node);

// The request of that number, on a user-level thread of the client's: it was due at `due`, and the run's clock began at
// `zero`.
DependencyOutcome AskFront(const DependencyOptions& options, neptune::Node& client, uint64_t number,
                           neptune::TimePoint due, neptune::TimePoint zero);

// Errors: kInvalidArgument the script, or the node that is cut off.
neptune::StatusOr<DependencyResult> RunDependency(const DependencyOptions& options);

}  // namespace search::lab
