// Third stage: the outputs that a cluster serves, each partition a task of its own.
//
// Threads: tasks run at the same time on different threads; each reads the spools on its own.
// Errors: those of the builder and of the document stores, with the task's name.
//
// A new kind of output is one more function that adds tasks in PartitionTasks.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/build_index/build_journal.h"
#include "tools/build_index/build_options.h"
#include "tools/build_index/index_manifest.h"
#include "tools/terminal/progress.h"

namespace search::tools {

// What all tasks read.
struct TaskInput {
  const BuildOptions& options;
  const BuildJournal& journal;
  std::vector<float> ranks;
  std::vector<uint8_t> tiers;

  uint64_t document_count() const { return ranks.size(); }
};

struct PartitionTask {
  std::string name;             // of the stage in the journal
  std::string folder;           // inside the index folder; `run` creates it again
  uint64_t document_count = 0;  // that it will hold
  // Builds the folder; counts documents in `progress`. Facts: documents.
  std::function<neptune::StatusOr<BuildJournal::Facts>(Progress* progress)> run;
};

// Tasks of all outputs, and the parts of the manifest that they make. REQUIRES: `input` outlives
// them.
std::vector<PartitionTask> PartitionTasks(const TaskInput& input, std::vector<ManifestPart>* parts);

// Folders of both index tiers of one variant, for the statistics of the collection.
std::vector<std::string> TierFolders(const BuildJournal& journal,
                                     const std::vector<ManifestPart>& parts,
                                     std::string_view implementation);

}  // namespace search::tools
