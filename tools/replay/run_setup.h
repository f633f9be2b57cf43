// The conditions of a run, which must match for two runs to be comparable.
//
// Threads: plain values; DescribeHost reads /proc.
// Errors: INVALID_ARGUMENT the text is not a set-up.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/replay/yield.h"

namespace search::tools {

// An event at a given time of the run.
struct RunEvent {
  double at_s = 0;
  std::string label;
  std::string command;  // run by the shell at that time; may be empty
};

struct RunSetup {
  std::string label;   // name of the run, given by the caller
  std::string target;  // as given
  std::string trace;   // file name
  std::string trace_xxh3;
  double speed = 1;
  double duration_s = 0;  // length of the plan
  double warmup_s = 0;
  double timeout_s = 5;
  double lateness_p99_ms_max = 1;
  uint64_t planned_count = 0;
  bool use_cache = true;
  std::vector<std::string> classes;
  YieldOptions yield;
  std::vector<RunEvent> events;
  std::string revision;  // revision of the source tree
  std::string processor;
  int processor_count = 0;
  std::string kernel;
  std::string started;  // UTC
};

std::string SetupJson(const RunSetup& setup);
neptune::StatusOr<RunSetup> ParseSetupJson(std::string_view json);

// Fills in revision, processor, kernel and time.
void DescribeHost(RunSetup* setup);

// Returns the names of differing fields that make two runs incomparable: all fields except label,
// target, revision, time, and the trace's file name if its contents are the same.
std::vector<std::string> DifferingFields(const RunSetup& a, const RunSetup& b);

}  // namespace search::tools
