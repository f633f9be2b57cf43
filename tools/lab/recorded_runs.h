// Runs experiments in their recorded form, and compares them with the committed figures or renews
// these.
//
// Threads: as RunAndJudge.
// Errors: those of the runs and of files; kNotFound an experiment without a recorded form.

#pragma once

#include <string>

#include "neptune/base/status.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {

// "FOLDER/lb_polling.txt".
std::string RecordedPath(const std::string& folder, const std::string& name);

// Runs the recorded form and writes its figures into `folder`.
neptune::Status Record(const Experiment& experiment, const std::string& folder, int thread_count);

// Runs the recorded form; returns what differs from the figures in the file, which is empty if
// nothing does.
neptune::StatusOr<std::string> CheckRecorded(const Experiment& experiment, const std::string& path,
                                             int thread_count);

// The same for a run that has been done.
neptune::StatusOr<std::string> CompareRecorded(const Results& results, const Judgement& judgement,
                                               const std::string& path);

}  // namespace search::lab
