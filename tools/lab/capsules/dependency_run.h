// One run of a service of the capsule paper under one scheme, during which a dependency fails: the
// set-up that all cap_ experiments share.
//
//   client ── open loop ──► front ──► its dependencies, some of which fail by script
//
// A scheme determines how the front's requests wait:
//   BTP     each keeps its thread of a bounded pool while it waits
//   UTP     each has a thread of its own, without a bound
//   DC      each returns its thread, and waits in the capsule of its dependency
//   DC+LT   as DC, and rejected if too many requests wait
//   DC+FB   as DC, with timeouts that shrink as more requests wait, and a bypass
//
// Source: [Chu05] VI.A-VI.E.
// Threads: RunDependency runs on the calling thread; several may run in several threads.
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
  int pool = kDependencyMainPool;  // the front's; ignored by kUnboundedPool
  // Fields of each of the front's capsules, in addition to its rule.
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
  // A node whose link is down from `begin_s` to `end_s`.
  struct Cut {
    std::string node;
    double begin_s = 0;
    double end_s = 0;
  };
  std::optional<Cut> cut{};
  // Silence after which a node is forgotten.
  neptune::Duration detection = kDependencyUndetected;
};

// The outcome of one request.
struct DependencyOutcome {
  double arrived_s = 0;  // on the run's clock
  double response_s = 0;
  bool answered = false;  // in time
  double quality = 0;     // 0 if it was not answered in time
  bool from_cache = false;
  neptune::StatusCode status = neptune::StatusCode::kOk;
};

// Figures of the requests that arrived in [begin_s, end_s), unless stated otherwise.
struct DependencyResult {
  std::vector<DependencyOutcome> outcomes;

  double LossPercent(double begin_s, double end_s) const;
  // Loss with each request weighted by its missing quality.
  double QualityLossPercent(double begin_s, double end_s) const;
  // Mean response time of answered requests.
  double MeanMs(double begin_s, double end_s) const;
  // Share of the answers that came from a cache.
  double HitPercent(double begin_s, double end_s) const;
  // Answers a second that arrived in that time.
  double AnsweredPerSecond(double begin_s, double end_s) const;
  double QualityPerSecond(double begin_s, double end_s) const;
};

// The cluster of a run, in either world: its spec, and the options of one node.
neptune::ClusterSpec DependencySpec(const DependencyOptions& options);
neptune::NodeOptions DependencyNodeOptions(const DependencyOptions& options,
                                           const neptune::ClusterSpec& spec,
                                           const std::string& node);

// Sends request `number`, on a user-level thread of the client. It was due at `due`; the run's
// clock began at `zero`.
DependencyOutcome AskFront(const DependencyOptions& options, neptune::Node& client, uint64_t number,
                           neptune::TimePoint due, neptune::TimePoint zero);

// Errors: kInvalidArgument the script or the cut node is invalid.
neptune::StatusOr<DependencyResult> RunDependency(const DependencyOptions& options);

}  // namespace search::lab
