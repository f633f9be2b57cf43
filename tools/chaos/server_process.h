// A node of a cluster as a separate process, with fault injection.
//
// Threads: thread-compatible.
// Units: seconds, bytes.
// Errors: Start: those of Process::Start; kUnavailable its log cannot be opened, or a limit cannot
//   be set.

#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/process.h"
#include "neptune/base/status.h"

namespace search::chaos {

inline constexpr uint64_t kSpareMemorySize = uint64_t{16} << 20;

class ServerProcess {
 public:
  // `arguments` begin with the program. What it prints goes to the end of `log`.
  // `network`: descriptor of the network namespace for the process; -1: that of this process.
  ServerProcess(std::vector<std::string> arguments, std::string log, int network = -1);
  // Descriptor that gets what it prints from its next start on, instead of the log.
  void SetOutput(int output) { output_ = output; }
  // REQUIRES: the process is not running.
  neptune::Status Start();
  bool lives() const { return process_.has_value(); }
  // True if the process exited on its own since it was started.
  bool HasEnded();

  // REQUIRES (all): the process is running. Kill waits for it to exit.
  void Kill() { process_.reset(); }
  void Pause() { process_->Signal(SIGSTOP); }
  void Resume() { process_->Signal(SIGCONT); }
  // Makes its file writes fail from now on, or succeed again.
  neptune::Status StarveOfDisk();
  neptune::Status EndStarveOfDisk();
  // Lets it open no descriptors from now on, or as many as before.
  neptune::Status StarveOfDescriptors();
  neptune::Status EndStarveOfDescriptors();
  // Lets its address space grow by at most kSpareMemorySize from now on.
  neptune::Status StarveOfMemory();

  // Processor time that it used since its start, and its memory.
  double ProcessorSeconds() const;
  neptune::StatusOr<uint64_t> ResidentSize() const;

 private:
  neptune::StatusOr<uint64_t> PagesOf(size_t column) const;
  neptune::Status Limit(int resource, uint64_t most);

  const std::vector<std::string> arguments_;
  const std::string log_;
  const int network_;
  int output_ = -1;                          // -1: the log
  uint64_t descriptors_ = 0;                 // its limit before it was starved
  std::optional<neptune::Process> process_;  // unset: it is not running; its end kills it
};

}  // namespace search::chaos
