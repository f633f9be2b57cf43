// Writers that write values of 100 bytes to replicated registers of a cluster of processes, one
// call at a time each, every value to a register of its own.
//
// Threads: one caller at a time, a plain kernel thread; writers run on the client node's control
//   loop.
// Units: milliseconds; seconds of processor time.
// Limits: a write takes at most kWriteTimeMax; then it counts as failed, and the next one begins.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "neptune/base/histogram.h"
#include "neptune/base/time.h"
#include "tools/chaos/process_cluster.h"

namespace search::lab {

inline constexpr neptune::Duration kWriteTimeMax = std::chrono::seconds(10);

struct WriteLoadOptions {
  int writer_count = 64;
  size_t value_size = 100;
  // Each writer's calls begin at most this often. 0: as soon as the one before ends.
  neptune::Duration pause{0};
  std::string key_prefix = "w";
};

struct WriteFigures {
  double acknowledged = 0;
  double failed = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double max_ms = 0;
  // Longest time in which no write was acknowledged.
  double gap_s = 0;
  double elapsed_s = 0;
  // Processor time of all nodes.
  double processor_s = 0;

  double rate() const { return elapsed_s > 0 ? acknowledged / elapsed_s : 0; }
};

class WriteLoad {
 public:
  // Starts the writers. REQUIRES: the cluster outlives it, and accepts writes.
  WriteLoad(chaos::ProcessCluster& cluster, const WriteLoadOptions& options);
  // Waits for the calls under way.
  ~WriteLoad();
  WriteLoad(const WriteLoad&) = delete;
  WriteLoad& operator=(const WriteLoad&) = delete;

  // What happens in the following time. Blocks.
  WriteFigures Measure(neptune::Duration time);
  // The same for whatever `body` does.
  WriteFigures MeasureWhile(const std::function<void()>& body);
  // Ends the writers and waits for them; returns how many writes were acknowledged from the start.
  uint64_t End();

 private:
  // Used on the client's control loop only.
  struct State {
    neptune::Histogram ns;
    uint64_t acknowledged = 0;
    uint64_t failed = 0;
    uint64_t acknowledged_in_all = 0;
    neptune::TimePoint last{};
    neptune::Duration gap{0};
    int active_count = 0;
    bool is_over = false;
  };

  void Write(int writer);
  void Count(neptune::TimePoint begin, bool is_acknowledged);
  neptune::TimePoint Reset();

  chaos::ProcessCluster& cluster_;
  const WriteLoadOptions options_;
  State state_;
};

}  // namespace search::lab
