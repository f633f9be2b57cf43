// Whom a node did not let in, or who did not let it in, and why: for metrics and for people.
//
// Threads: thread-safe.
// Limits: the last kRefusalRowsMax peers; further news of one are in its row. Log lines: one of a hundred.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/world/network.h"

namespace neptune {

inline constexpr size_t kRefusalRowsMax = 32;

enum class Refusal {
  kAccepted,  // a connection that another end made failed its proof
  kMade,      // one that this node made
  kLate,      // either was not done in time, or made room for a newer one
  kDatagram,  // not sealed with a key that is known here
};
inline constexpr size_t kRefusalCount = 4;

class RefusalLog {
 public:
  // Adds neptune_security_refusals_total{kind="accepted|made|late|datagram"} to `registry`, which outlives the log.
  Status AddMetrics(MetricsRegistry& registry);

  void Note(Refusal kind, const Endpoint& peer, std::string_view why);
  uint64_t count(Refusal kind) const;
  // A table of the last ones.
  void Show(StatusReport* report) const;

 private:
  struct Row {
    Refusal kind;
    uint32_t address;
    std::string why;
    uint64_t count = 0;
  };
  std::array<Counter*, kRefusalCount> counters_{};
  mutable LeafMutex mutex_;
  std::array<uint64_t, kRefusalCount> counts_ ABSL_GUARDED_BY(mutex_){};
  std::deque<Row> rows_ ABSL_GUARDED_BY(mutex_);  // the latest first
};

}  // namespace neptune
