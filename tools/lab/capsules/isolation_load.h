// The nodes of an isolation run and their load: an open loop of unrelated requests, and requests
// that wait for a silent dependency.
//
//   asker ── Work, at random times ──► node: one worker thread, both methods in one pool
//         └─ Ask, many at once ──────►
//
// Threads: created and used on one plain kernel thread.
// Errors: a node that does not start ends the program.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/base/time.h"
#include "neptune/node/node.h"
#include "neptune/testing/real_node.h"
#include "neptune/world/random_source.h"
#include "neptune/world/world.h"
#include "tools/lab/capsules/silent_dependency.h"

namespace search::lab {

struct IsolationLoadOptions {
  uint16_t multicast_port = 0;                              // the cluster's group
  double rate = 1000;                                       // unrelated requests a second
  neptune::Duration work = std::chrono::microseconds(100);  // processor time of each
  uint64_t seed = 1;                                        // of the arrival times
};

// The two nodes. `dependency` may change while no request waits for one.
class IsolationNodes {
 public:
  IsolationNodes(const IsolationLoadOptions& options,
                 std::unique_ptr<SilentDependency>* dependency);

  neptune::RealNode& node() { return node_; }
  neptune::RealNode& asker() { return asker_; }

 private:
  neptune::RealNode node_;
  neptune::RealNode asker_;
};

// One unrelated request.
struct Sample {
  neptune::Duration due{0};  // since the load began
  neptune::Duration took{0};
  bool answered = false;
};

// The requests that are due in [begin, end).
struct Span {
  neptune::Duration begin{0};
  neptune::Duration end{0};
};

// Figures of the requests that are due in the spans: the share answered within `limit`; the `share`
// quantile of their times.
double InTimeShare(const std::vector<Sample>& samples, const std::vector<Span>& spans,
                   neptune::Duration limit);
neptune::Duration Percentile(const std::vector<Sample>& samples, const std::vector<Span>& spans,
                             double share);

// An open loop of unrelated requests.
class UnrelatedLoad {
 public:
  UnrelatedLoad(neptune::RealNode& asker, const IsolationLoadOptions& options)
      : asker_(asker), mean_gap_s_(1 / options.rate), random_(options.seed) {}

  void Start();
  // Stops, waits for the requests in flight, and returns all samples.
  std::vector<Sample> Stop();
  // The time since Start.
  neptune::Duration Now();

 private:
  void Pace();
  void AskOnce(neptune::TimePoint due);

  neptune::RealNode& asker_;
  // On the asker's control loop.
  const double mean_gap_s_;
  neptune::RandomSource random_;
  neptune::TimePoint zero_;
  std::vector<Sample> samples_;
  size_t in_flight_count_ = 0;
  bool stopping_ = false;
  neptune::Notification stopped_;
};

// Requests that wait for the dependency, for at most `limit` each.
class BlockedRequests {
 public:
  BlockedRequests(neptune::RealNode& asker, int count, neptune::Duration limit)
      : asker_(asker), count_(count), limit_(limit) {}

  void Start();
  // Waits until all have ended; returns the number of answered ones.
  int Await();

 private:
  void Ask();

  neptune::RealNode& asker_;
  const int count_;
  const neptune::Duration limit_;
  int answered_count_ = 0;
  int ended_count_ = 0;
  neptune::Notification done_;
};

}  // namespace search::lab
