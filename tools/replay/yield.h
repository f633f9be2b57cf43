// The yield of an answer as a function of its response time.
//
//   throughput  C up to D                 resptime  C (1 - r/D)
//   hybrid      C up to D', then falling to C' at D;   nothing after D
//
// Source: [Shen02] 4.2.1 (forms), 4.5.1 (Gold, Silver, Bronze 4 : 2 : 1, D 2 s, D' 1 s, C' = C/2),
// 4.5.2 (loss percent).
// Threads: plain values.
// Units: seconds.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace search::tools {

enum class YieldForm { kThroughput, kResponseTime, kHybrid };

struct YieldOptions {
  YieldForm form = YieldForm::kThroughput;
  double deadline_s = 2;
  // Full yield of each class; 1 for classes not listed.
  std::map<std::string, double> full = {{"gold", 4}, {"silver", 2}, {"bronze", 1}};

  double FullOf(const std::string& service_class) const;
  // Returns the share of the full yield for an answer after `seconds`.
  double ShareAfter(double seconds) const;
};

// Parses "throughput", "resptime" or "hybrid". Errors: INVALID_ARGUMENT any other word.
neptune::StatusOr<YieldForm> ParseYieldForm(std::string_view word);
std::string_view YieldFormName(YieldForm form);
// Parses "gold:4,silver:2".
neptune::StatusOr<std::map<std::string, double>> ParseYields(std::string_view text);

}  // namespace search::tools
