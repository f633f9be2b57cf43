// What became of many calls: how long those took that were answered, and why the others were not.
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
  // On standard output, beginning with `what`.
  void Print(const char* what);

 private:
  std::vector<double> times_ms_;
  std::map<std::string, int> failures_;  // how many, by reason
  std::string answer_;
};

}  // namespace neptune::examples
