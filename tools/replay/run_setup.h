// Under which conditions a run was made: what has to be the same for two runs to be compared.
//
// Threads: plain values; DescribeHost reads /proc.
// Errors: INVALID_ARGUMENT text that is no set-up.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/replay/yield.h"

namespace search::tools {

// Something that happened, or was done, at a time of the run.
struct RunEvent {
  double at_s = 0;
  std::string label;
  std::string command;  // run by the shell then; may be empty
};

struct RunSetup {
  std::string label;   // the caller's name of the run
  std::string target;  // as given
  std::string trace;   // file name
  std::string trace_xxh3;
  double speed = 1;
  double duration_s = 0;  // of the plan
  double warmup_s = 0;
  double timeout_s = 5;
  double lateness_p99_ms_max = 1;
  uint64_t planned_count = 0;
  bool use_cache = true;
  std::vector<std::string> classes;
  YieldOptions yield;
  std::vector<RunEvent> events;
  std::string revision;  // of the source tree
  std::string processor;
  int processor_count = 0;
  std::string kernel;
  std::string started;  // UTC
};

std::string SetupJson(const RunSetup& setup);
neptune::StatusOr<RunSetup> ParseSetupJson(std::string_view json);

// Fills in revision, processor, kernel and time.
void DescribeHost(RunSetup* setup);

// Names of fields in which two runs differ that would make a comparison meaningless: all but label,
// target, revision, time, and the file's name where its contents are the same.
std::vector<std::string> DifferingFields(const RunSetup& a, const RunSetup& b);

}  // namespace search::tools
