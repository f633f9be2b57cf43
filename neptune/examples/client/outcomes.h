// Statistics of many calls: latency of successful ones, reasons of failed ones.
//
// Threads: one kernel thread.
// Units: milliseconds.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/service/data.h"

namespace neptune::examples {

class Outcomes {
 public:
  void Note(const Status& status, const Data& answer, Duration took);
  // Prints to standard output; each line begins with `what`.
  void Print(const char* what);

 private:
  std::vector<double> times_ms_;
  std::map<std::string, int> failures_;  // number of failures for each reason
  std::string answer_;
};

}  // namespace neptune::examples
