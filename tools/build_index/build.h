// Builds an index: both tiers, their common statistics, the document stores and the manifest.
//
// Layout and format: format.md.
// Threads: BuildIndex uses thread_count threads inside the call; one build a folder at a time.
// Errors: INVALID_ARGUMENT bad options or input; FAILED_PRECONDITION the folder holds other files;
//   CANCELLED `interrupted` returned true; and those of the stages.
// Limits: BuildOptions; kPartitionsMax, kDocumentsMax.
//
// read -> rank -> segments and document stores, in parallel -> statistics -> manifest
//
// Every stage is recorded when it is finished (build_journal.h). Building again with the same
// inputs and options continues after the finished ones, even after SIGKILL; with others it starts
// over. The manifest is written last: a folder without it is not an index.

#pragma once

#include <string>

#include "neptune/base/status.h"
#include "tools/build_index/build_options.h"
#include "tools/build_index/index_manifest.h"

namespace search::tools {

// Builds the index and returns its manifest. Returns at once if an index that matches inputs and
// options already exists.
neptune::StatusOr<IndexManifest> BuildIndex(const BuildOptions& options);

}  // namespace search::tools
