// Records which stages of a build are finished, so that a killed build continues after them.
//
// Reads and writes files below the index folder.
// Threads: thread-safe.
// Errors: kFailedPrecondition the folder contains other files; kUnavailable the file system.
//
// The folder `DIR/.build` holds `plan` (the fingerprint of inputs and options), the stages' own
// files and for each finished stage `done/STAGE.json`: its outputs with sizes and checksums, and
// its facts. A stage counts as finished only if its outputs still match. With another fingerprint
// the build starts over.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/streams/digest.h"

namespace search::tools {

struct OutputFile {
  std::string path;  // inside the index folder
  FileDigest digest;

  bool operator==(const OutputFile&) const = default;
};

class BuildJournal {
 public:
  // Numbers that a stage passes to later stages, by name.
  using Facts = std::vector<std::pair<std::string, uint64_t>>;

  // Takes possession of `folder`: it must be absent, empty, or hold an index or a build of ours.
  // Removes what a build with another fingerprint left.
  static neptune::StatusOr<BuildJournal> Open(const std::string& folder,
                                              const std::string& fingerprint);

  // `path` inside the index folder, and inside its build folder.
  std::string IndexPath(std::string_view path) const;
  std::string BuildPath(std::string_view path) const;

  // Returns true and the stage's facts if it is finished and its outputs are intact.
  bool IsFinished(const std::string& stage, Facts* facts) const;

  // Records the stage. `outputs` are files or folders inside the index folder.
  neptune::Status Finish(const std::string& stage, const std::vector<std::string>& outputs,
                         const Facts& facts) const;

  // Returns every file below the given files and folders, by path, with checksums.
  neptune::StatusOr<std::vector<OutputFile>> Digest(const std::vector<std::string>& outputs) const;

  // Removes the build folder; called at the end of the build.
  neptune::Status Remove() const;

 private:
  explicit BuildJournal(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
};

// Returns the value of a fact; 0 if there is no fact of that name.
uint64_t FactOf(const BuildJournal::Facts& facts, std::string_view name);

}  // namespace search::tools
