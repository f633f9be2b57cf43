// Log of refused connections and datagrams, by this node and by others, with reasons: for metrics
// and status pages.
//
// Threads: thread-safe.
// Limits: keeps the last kRefusalRowsMax peers; repeated refusals share a row. At most
//   one refusal a second is logged.

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
  kAccepted,  // an incoming connection failed authentication
  kMade,      // an outgoing connection failed authentication
  kLate,      // authentication timed out
  kDatagram,  // a datagram was not sealed with a key known here
  kCaller,    // a node called what its certificate does not allow
  kCrowded,   // authentication was aborted for another connection
};
inline constexpr size_t kRefusalCount = 6;

class RefusalLog {
 public:
  // Adds neptune_security_refusals_total{kind="accepted|made|late|datagram|caller|crowded"} to
  // `registry`, which must outlive the log.
  Status AddMetrics(MetricsRegistry& registry);

  void Note(Refusal kind, const Endpoint& peer, std::string_view why);
  uint64_t count(Refusal kind) const;
  // Adds a table of the latest refusals.
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
  std::deque<Row> rows_ ABSL_GUARDED_BY(mutex_);  // latest first
};

}  // namespace neptune
