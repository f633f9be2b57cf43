// What became of the requests of one source of load, and how long their answers took.
//
// No clock. Threads: thread-compatible.
// Units: times in nanoseconds; ToJson in milliseconds and seconds, as the names say.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/histogram.h"

namespace search::tools {

struct LoadMeterOptions {
  // An answer is good if it arrives within this time of being due, with a status of success and
  // none of the texts below.
  int64_t good_ns = 0;
  // Texts that only incomplete answers contain.
  std::vector<std::string> unwanted_texts;
};

class LoadMeter {
 public:
  explicit LoadMeter(LoadMeterOptions options) : options_(std::move(options)) {}

  void CountSent(int64_t late_ns);
  // An answer of any status. `due_ns`: when the request was to be sent; in a closed loop, was sent.
  void CountAnswer(int status, std::string_view bytes, int64_t due_ns, int64_t now_ns);
  void CountTimeout() { ++timed_out_count_; }
  // The connection could not be made, or ended before the answer did.
  void CountFailure() { ++failed_count_; }

  uint64_t sent_count() const { return sent_count_; }
  uint64_t failed_count() const { return failed_count_; }

  nlohmann::json ToJson(double seconds) const;

 private:
  const LoadMeterOptions options_;
  uint64_t sent_count_ = 0;
  uint64_t answered_count_ = 0;
  uint64_t good_count_ = 0;
  uint64_t incomplete_count_ = 0;
  uint64_t timed_out_count_ = 0;
  uint64_t failed_count_ = 0;
  uint64_t byte_count_ = 0;                 // of answers of success
  std::map<int, uint64_t> refused_counts_;  // by status
  neptune::Histogram latency_ns_;           // of answers of success
  neptune::Histogram late_ns_;
};

}  // namespace search::tools
