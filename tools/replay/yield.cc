#include "tools/replay/yield.h"

#include <charconv>

#include "neptune/base/strings.h"
#include "tools/terminal/command_line.h"
#include "tools/trace/trace_record.h"

namespace search::tools {

using neptune::InvalidArgument;
using neptune::StatusOr;

double YieldOptions::FullOf(const std::string& service_class) const {
  const auto entry = full.find(service_class);
  return entry == full.end() ? 1 : entry->second;
}

double YieldOptions::ShareAfter(double seconds) const {
  if (seconds > deadline_s) return 0;
  const double part = seconds / deadline_s;
  switch (form) {
    case YieldForm::kThroughput:
      return 1;
    case YieldForm::kResponseTime:
      return 1 - part;
    case YieldForm::kHybrid:
      return part <= 0.5 ? 1 : 1 - (part - 0.5);
  }
  return 0;
}

StatusOr<YieldForm> ParseYieldForm(std::string_view word) {
  for (const YieldForm form :
       {YieldForm::kThroughput, YieldForm::kResponseTime, YieldForm::kHybrid}) {
    if (word == YieldFormName(form)) return form;
  }
  return InvalidArgument("--yield=", word, " is not throughput, resptime or hybrid");
}

std::string_view YieldFormName(YieldForm form) {
  if (form == YieldForm::kThroughput) return "throughput";
  return form == YieldForm::kResponseTime ? "resptime" : "hybrid";
}

StatusOr<std::map<std::string, double>> ParseYields(std::string_view text) {
  std::map<std::string, double> yields;
  for (const std::string& part : SplitList(text)) {
    const size_t colon = part.find(':');
    double value = 0;
    const char* const end = part.data() + part.size();
    if (colon == part.npos || !CheckTraceClass(part.substr(0, colon)).ok() ||
        std::from_chars(part.data() + colon + 1, end, value).ptr != end || !(value >= 0)) {
      return InvalidArgument("--class_yields: '", part, "' is not CLASS:NUMBER");
    }
    yields[part.substr(0, colon)] = value;
  }
  return yields;
}

}  // namespace search::tools
