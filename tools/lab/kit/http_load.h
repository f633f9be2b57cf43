// An open loop of HTTP requests against one server, and what became of each: what a user of the server sees while
// something behind it fails.
//
// Tools/replay sends and measures.
// Threads: the calling kernel thread waits; a loop of its own sends.
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

// Something that is done while the load runs.
struct TimedAction {
  double at_s = 0;
  std::function<void()> action;
};

struct HttpLoadOptions {
  neptune::Endpoint server;
  std::string path = "/?q=";
  double rate = 80;  // a second; arrivals are those of a Poisson process
  double length_s = 30;
  // A request that has no answer by then is lost.
  double timeout_s = 2;
  uint64_t seed = 1;
  std::vector<TimedAction> actions;
  // What is asked for, drawn evenly.
  std::vector<std::string> queries = {"item"};
  // And of this share of the requests; they are of service class 1 in the measurements.
  std::vector<std::string> other_queries = {};
  double other_share = 0;
  // If there are any, each request is of a class drawn by these shares, which are 1 together, and names it; the
  // measurements number them in this order. There are no other_queries then.
  std::vector<std::pair<std::string, double>> class_shares = {};
  // Whether answers are a search's, and are read.
  bool read_facts = false;
};

// One for each request, in the order of their ends.
neptune::StatusOr<std::vector<tools::Measurement>> RunHttpLoad(const HttpLoadOptions& options);

// A plan of the caller's own, sent as the caller wants it.
struct PlannedLoad {
  tools::ReplayPlan plan;
  // Is called on the loop that sends.
  std::function<std::unique_ptr<tools::LoadTarget>(neptune::Loop&, const tools::ReplayPlan&)>
      make_target;
  double timeout_s = 2;
  std::vector<TimedAction> actions;
};

neptune::StatusOr<std::vector<tools::Measurement>> RunPlannedLoad(const PlannedLoad& load);

struct LoadShare {
  size_t request_count = 0;
  size_t lost_count = 0;        // anything but the wanted answer in time
  double response_ms_mean = 0;  // of those that were answered

  double loss_percent() const {
    return request_count == 0
               ? 0
               : 100.0 * static_cast<double>(lost_count) / static_cast<double>(request_count);
  }
};

// Of the requests that were due in [begin, end).
LoadShare ShareOf(const std::vector<tools::Measurement>& measurements, double begin_s, double end_s,
                  double timeout_s);

}  // namespace search::lab
