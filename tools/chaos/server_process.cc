#include "tools/chaos/server_process.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "neptune/base/descriptor.h"

namespace search::chaos {

ServerProcess::ServerProcess(std::vector<std::string> arguments, std::string log, int network)
    : arguments_(std::move(arguments)), log_(std::move(log)), network_(network) {}

neptune::Status ServerProcess::Start() {
  const neptune::Descriptor log(
      open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log.open()) return neptune::Unavailable("opening ", log_, ": ", std::strerror(errno));
  neptune::ProcessOptions options{.command = arguments_};
  options.output = log.number();
  options.error = log.number();
  options.ends_with_caller = true;
  options.network = network_;
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Process process, neptune::Process::Start(options));
  process_.emplace(std::move(process));
  return neptune::OkStatus();
}

bool ServerProcess::HasEnded() {
  if (!lives() || !process_->TakeEnd().has_value()) return false;
  process_.reset();
  return true;
}

neptune::Status ServerProcess::StarveOfDisk() {
  const rlimit none = {0, 0};
  if (prlimit(process_->id(), RLIMIT_FSIZE, &none, nullptr) == 0) return neptune::OkStatus();
  return neptune::Unavailable("limiting the files of a process: ", std::strerror(errno));
}

}  // namespace search::chaos
