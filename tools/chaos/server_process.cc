#include "tools/chaos/server_process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "neptune/base/descriptor.h"
#include "neptune/base/strings.h"

namespace search::chaos {

ServerProcess::ServerProcess(std::vector<std::string> arguments, std::string log, int network)
    : arguments_(std::move(arguments)), log_(std::move(log)), network_(network) {}

neptune::Status ServerProcess::Start() {
  neptune::Descriptor log;
  if (output_ < 0) {
    log = neptune::Descriptor(open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!log.open()) return neptune::Unavailable("opening ", log_, ": ", std::strerror(errno));
  }
  neptune::ProcessOptions options{.command = arguments_};
  options.output = output_ < 0 ? log.number() : output_;
  options.error = options.output;
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

neptune::Status ServerProcess::Limit(int resource, uint64_t most) {
  rlimit limit{};
  const auto which = static_cast<__rlimit_resource>(resource);
  if (prlimit(process_->id(), which, nullptr, &limit) == 0) {
    limit.rlim_cur = std::min<rlim_t>(most, limit.rlim_max);
    if (prlimit(process_->id(), which, &limit, nullptr) == 0) return neptune::OkStatus();
  }
  return neptune::Unavailable("limiting a process: ", std::strerror(errno));
}

neptune::Status ServerProcess::StarveOfDisk() { return Limit(RLIMIT_FSIZE, 0); }

neptune::Status ServerProcess::EndStarveOfDisk() { return Limit(RLIMIT_FSIZE, RLIM_INFINITY); }

neptune::Status ServerProcess::StarveOfDescriptors() {
  rlimit before{};
  if (prlimit(process_->id(), RLIMIT_NOFILE, nullptr, &before) == 0) descriptors_ = before.rlim_cur;
  uint64_t open_count = 0;
  std::error_code error;
  const std::string folder = neptune::StrCat("/proc/", process_->id(), "/fd");
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    ++open_count;
  }
  if (error) return neptune::Unavailable("reading ", folder, ": ", error.message());
  return Limit(RLIMIT_NOFILE, open_count);
}

neptune::Status ServerProcess::EndStarveOfDescriptors() {
  return Limit(RLIMIT_NOFILE, descriptors_);
}

neptune::Status ServerProcess::StarveOfMemory() {
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t pages, PagesOf(0));
  const auto page_size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return Limit(RLIMIT_AS, pages * page_size + kSpareMemorySize);
}

double ServerProcess::ProcessorSeconds() const {
  clockid_t clock{};
  timespec used{};
  if (!lives() || clock_getcpuclockid(process_->id(), &clock) != 0 ||
      clock_gettime(clock, &used) != 0) {
    return 0;
  }
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

neptune::StatusOr<uint64_t> ServerProcess::ResidentSize() const {
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t pages, PagesOf(1));
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// A column of /proc/PID/statm.
neptune::StatusOr<uint64_t> ServerProcess::PagesOf(size_t column) const {
  if (!lives()) return neptune::FailedPrecondition("the process is not running");
  std::ifstream text(neptune::StrCat("/proc/", process_->id(), "/statm"));
  uint64_t pages = 0;
  for (size_t i = 0; i <= column; ++i) text >> pages;
  if (!text) return neptune::Unavailable("reading the memory of process ", process_->id());
  return pages;
}

}  // namespace search::chaos
