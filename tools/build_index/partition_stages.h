// Third stage: builds the outputs that a cluster serves, with one task per partition.
//
// Threads: tasks run concurrently on different threads; each opens the spools separately.
// Errors: those of the builder and of the document stores, with the task's name.
//
// A new kind of output is one more function that adds its tasks in PartitionTasks.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/build_index/build_journal.h"
#include "tools/build_index/build_options.h"
#include "tools/build_index/document_numbers.h"
#include "tools/build_index/index_manifest.h"
#include "tools/terminal/progress.h"

namespace search::tools {

// Input of all tasks.
struct TaskInput {
  const BuildOptions& options;
  const BuildJournal& journal;
  std::vector<float> ranks = {};
  std::vector<uint8_t> tiers = {};
  DocumentNumbers numbers = {};

  uint64_t document_count() const { return ranks.size(); }
};

struct PartitionTask {
  std::string name;             // of the stage in the journal
  std::string folder;           // inside the index folder; `run` creates it again
  uint64_t document_count = 0;  // that it will hold
  // Builds the folder; counts documents in `progress`. Facts: documents.
  std::function<neptune::StatusOr<BuildJournal::Facts>(Progress* progress)> run;
};

// Returns the tasks of all outputs, and the manifest parts they create. REQUIRES: `input` outlives
// them.
std::vector<PartitionTask> PartitionTasks(const TaskInput& input, std::vector<ManifestPart>* parts);

// Returns the tasks that build all documents as one tier in the build folder, to ask it questions
// before the tiers are chosen. REQUIRES: `input` outlives them.
std::vector<PartitionTask> TrialTasks(const TaskInput& input);

// Returns the folders of both index tiers of one variant, for the collection statistics.
std::vector<std::string> TierFolders(const BuildJournal& journal,
                                     const std::vector<ManifestPart>& parts,
                                     std::string_view implementation);

}  // namespace search::tools
