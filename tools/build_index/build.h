// Builds an index: both tiers, their common statistics, the document stores and the manifest.
//
// Layout and format: format.md.
// Threads: BuildIndex uses thread_count threads inside the call; one build a folder at a time.
// Errors: INVALID_ARGUMENT impossible options or input; FAILED_PRECONDITION the folder holds
// something
//   else; CANCELLED `interrupted` said so; else those of the stages.
// Limits: BuildOptions; kPartitionsMax, kDocumentsMax.
//
// read -> rank -> segments and document stores, in parallel -> statistics -> manifest
//
// Every stage is recorded when it is finished (build_journal.h). Building again with the same
// inputs and options goes on after the finished ones, also after SIGKILL; with others it starts
// over. The manifest is written last: a folder without it is no index.

#pragma once

#include <string>

#include "neptune/base/status.h"
#include "tools/build_index/build_options.h"
#include "tools/build_index/index_manifest.h"

namespace search::tools {

// If an index is there already and matches inputs and options, its manifest is returned at once.
neptune::StatusOr<IndexManifest> BuildIndex(const BuildOptions& options);

}  // namespace search::tools
