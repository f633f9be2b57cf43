// Open-loop HTTP load on one server, and the outcome of each request: what users see while a
// dependency of the server fails.
//
// tools/replay sends the requests and measures them.
// Threads: the calling kernel thread blocks; a separate event loop sends.
// Units: seconds since the run began.
// Limits: kHttpLoadRequestCountMax requests.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/world/loop.h"
#include "neptune/world/network.h"
#include "tools/replay/load_target.h"
#include "tools/replay/measurement.h"
#include "tools/replay/replay_plan.h"

namespace search::lab {

inline constexpr size_t kHttpLoadRequestCountMax = 1'000'000;

// An action to run during the load.
struct TimedAction {
  double at_s = 0;
  std::function<void()> action;
};

struct HttpLoadOptions {
  neptune::Endpoint server;
  std::string path = "/?q=";
  double rate = 80;  // requests a second; Poisson arrivals
  double length_s = 30;
  // A request without an answer after this time is lost.
  double timeout_s = 2;
  uint64_t seed = 1;
  std::vector<TimedAction> actions;
  // Queries, drawn with equal probability.
  std::vector<std::string> queries = {"item"};
  // Queries of the share `other_share` of the requests, which have service class 1 in the
  // measurements.
  std::vector<std::string> other_queries = {};
  double other_share = 0;
  // If not empty, each request names a class that is drawn by these shares, whose sum is 1; the
  // measurements number the classes in this order. REQUIRES: other_queries is empty then.
  std::vector<std::pair<std::string, double>> class_shares = {};
  // Whether answers are parsed as those of a search.
  bool read_facts = false;
};

// Returns one measurement for each request, in the order of completion.
neptune::StatusOr<std::vector<tools::Measurement>> RunHttpLoad(const HttpLoadOptions& options);

// Load by a given plan, sent to a given target.
struct PlannedLoad {
  tools::ReplayPlan plan;
  // Called on the event loop that sends.
  std::function<std::unique_ptr<tools::LoadTarget>(neptune::Loop&, const tools::ReplayPlan&)>
      make_target;
  double timeout_s = 2;
  // All of them run, also those that are due after the last request has ended.
  std::vector<TimedAction> actions;
};

neptune::StatusOr<std::vector<tools::Measurement>> RunPlannedLoad(const PlannedLoad& load);

struct LoadShare {
  size_t request_count = 0;
  size_t lost_count = 0;        // requests without the expected answer in time
  double response_ms_mean = 0;  // answered requests only

  double loss_percent() const {
    return request_count == 0
               ? 0
               : 100.0 * static_cast<double>(lost_count) / static_cast<double>(request_count);
  }
};

// The share of the requests that were due in [begin, end).
LoadShare ShareOf(const std::vector<tools::Measurement>& measurements, double begin_s, double end_s,
                  double timeout_s);

}  // namespace search::lab
