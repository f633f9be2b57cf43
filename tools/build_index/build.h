// Builds an index: both tiers, their common statistics, the document stores and the manifest.
//
// Layout and format: format.md.
// Threads: BuildIndex uses thread_count threads inside the call; one build a folder at a time.
// Errors: INVALID_ARGUMENT impossible options or input; FAILED_PRECONDITION the folder has
//   other files; CANCELLED `interrupted` returned true; else those of the stages.
// Limits: BuildOptions; kPartitionsMax, kDocumentsMax.
//
// read -> rank -> segments and document stores, in parallel -> statistics -> manifest
//
// Every finished stage is recorded (build_journal.h). A build with the same inputs and options
// resumes after the finished stages, even after SIGKILL; with others it starts over. The manifest
// is written last: a folder without it is not an index.

#pragma once

#include <string>

#include "neptune/base/status.h"
#include "tools/build_index/build_options.h"
#include "tools/build_index/index_manifest.h"

namespace search::tools {

// If the folder already contains an index that matches inputs and options, returns its manifest
// immediately.
neptune::StatusOr<IndexManifest> BuildIndex(const BuildOptions& options);

}  // namespace search::tools
