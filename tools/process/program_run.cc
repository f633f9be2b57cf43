#include "tools/process/program_run.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "neptune/base/descriptor.h"
#include "neptune/base/file.h"
#include "neptune/base/process.h"

namespace search::tools {

neptune::StatusOr<ProgramRun> RunToEnd(const std::vector<std::string>& command,
                                       const std::string& folder) {
  const std::string log = folder + "/program.log";
  const neptune::Descriptor output(
      open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!output.open()) return neptune::Unavailable("opening ", log, ": ", std::strerror(errno));
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Process process,
                           neptune::Process::Start({.command = command,
                                                    .output = output.number(),
                                                    .error = output.number(),
                                                    .ends_with_caller = true}));
  const neptune::ProcessEnd end = process.Wait();
  NEPTUNE_ASSIGN_OR_RETURN(std::string text, neptune::ReadFile(log, kOutputSizeMax));
  return ProgramRun{end.signal == 0 ? end.exit_status : -1, std::move(text)};
}

}  // namespace search::tools
