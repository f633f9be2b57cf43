// Times of engines by command and query, as the peers' programs write them.
//
// Threads: thread-compatible.
// Shapes: lines `engine command query count min_us p50_us mean_us`, separated by tabs, after a
//   line of names.
// Errors: INVALID_ARGUMENT names the malformed line.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "tools/bench_index/game_query.h"

namespace search::tools {

// The value below which `share` of the values lie; 0 if there are none.
double Percentile(std::vector<double> values, double share);

class TimingTable {
 public:
  using Times = std::map<std::string, double>;       // microseconds by query
  using EngineTimes = std::map<std::string, Times>;  // by engine
  using Key = std::pair<std::string, QueryClass>;    // command, class

  // Keeps the least time of an engine for each command and query over all files.
  neptune::Status AddTsv(std::string_view tsv);
  void Add(const std::string& engine, const std::string& command, const std::string& query,
           double microseconds);

  std::vector<std::string> engines() const;
  // A query is counted in each class that it belongs to.
  const std::map<Key, EngineTimes>& times() const { return times_; }

  // For each command and class: median, 90th and 99th percentile of each engine over the queries
  // that it answered.
  std::string Summary() const;

 private:
  std::map<Key, EngineTimes> times_;
};

}  // namespace search::tools
