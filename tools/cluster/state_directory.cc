#include "tools/cluster/state_directory.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr size_t kStartedSizeMax = 4096;

Status MakeDirectories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return neptune::FailedPrecondition("creating folder ", path, ": ", error.message());
  return neptune::OkStatus();
}

}  // namespace

StateDirectory::~StateDirectory() {
  if (lock_ >= 0) close(lock_);
  if (changes_lock_ >= 0) close(changes_lock_);
}

Status StateDirectory::Lock() {
  NEPTUNE_RETURN_IF_ERROR(MakeDirectories(directory_));
  const std::string path = directory_ + "/lock";
  lock_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) return neptune::FailedPrecondition("opening ", path, ": ", std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    return neptune::FailedPrecondition(
        "the cluster of ", directory_,
        " is already running; stop it first, or give another --state");
  }
  const std::string pid = StrCat(getpid(), "\n");
  if (ftruncate(lock_, 0) != 0 || write(lock_, pid.data(), pid.size()) < 0) {
    return neptune::FailedPrecondition("writing ", path, ": ", std::strerror(errno));
  }
  return neptune::OkStatus();
}

StatusOr<pid_t> StateDirectory::Supervisor() const {
  const std::string path = directory_ + "/lock";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return neptune::NotFound("no cluster has run in ", directory_);
  const bool held = flock(file, LOCK_SH | LOCK_NB) != 0;
  close(file);
  if (!held) return neptune::NotFound("no cluster is running in ", directory_, "; start it first");
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text, neptune::ReadFile(path, kStartedSizeMax));
  return static_cast<pid_t>(std::atoi(text.c_str()));
}

Status StateDirectory::WakeSupervisor() const {
  NEPTUNE_ASSIGN_OR_RETURN(const pid_t supervisor, Supervisor());
  if (kill(supervisor, SIGUSR1) == 0) return neptune::OkStatus();
  return neptune::NotFound("the supervisor of ", directory_, " is not running");
}

Status StateDirectory::LockChanges() {
  const std::string path = directory_ + "/changing";
  changes_lock_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (changes_lock_ < 0) {
    return neptune::NotFound("opening ", path, ": ", std::strerror(errno));
  }
  if (flock(changes_lock_, LOCK_EX | LOCK_NB) == 0) return neptune::OkStatus();
  return neptune::FailedPrecondition("another tool is changing the cluster at the moment");
}

Status StateDirectory::MakeNode(const std::string& node) const {
  return MakeDirectories(StrCat(directory_, "/nodes/", node));
}

std::string StateDirectory::StartedFile(const std::string& node) const {
  return StrCat(directory_, "/nodes/", node, "/started");
}

std::string StateDirectory::SpanFile(const std::string& node) const {
  return StrCat(directory_, "/nodes/", node, "/spans");
}

std::string StateDirectory::LogFile(const std::string& node) const {
  return StrCat(directory_, "/nodes/", node, "/log");
}

std::optional<StartedNode> StateDirectory::ReadStarted(const std::string& node) const {
  const StatusOr<std::string> text = neptune::ReadFile(StartedFile(node), kStartedSizeMax);
  if (!text.ok()) return std::nullopt;
  std::istringstream in(*text);
  StartedNode started;
  for (std::string key; in >> key;) {
    if (key == "pid") in >> started.pid;
    if (key == "calls") in >> started.calls;
    if (key == "admin") in >> started.admin;
  }
  if (started.pid <= 0) return std::nullopt;
  return started;
}

void StateDirectory::ForgetStarted(const std::string& node) const {
  std::error_code ignored;
  fs::remove(StartedFile(node), ignored);
}

pid_t StateDirectory::RunningPid(const std::string& node) const {
  const auto text = neptune::ReadFile(StrCat(directory_, "/nodes/", node, "/pid"), kStartedSizeMax);
  return text.ok() ? static_cast<pid_t>(std::atoi(text->c_str())) : 0;
}

void StateDirectory::SetRunningPid(const std::string& node, pid_t pid) const {
  const std::string path = StrCat(directory_, "/nodes/", node, "/pid");
  std::error_code ignored;
  if (pid == 0) {
    fs::remove(path, ignored);
  } else {
    // If writing fails, the node runs but cannot be restarted by other commands.
    (void)neptune::WriteFileAtomically(path, StrCat(pid, "\n"));
  }
}

bool StateDirectory::IsHeld(const std::string& node) const {
  std::error_code ignored;
  return fs::exists(StrCat(directory_, "/nodes/", node, "/held"), ignored);
}

Status StateDirectory::SetHeld(const std::string& node, bool held) const {
  const std::string path = StrCat(directory_, "/nodes/", node, "/held");
  if (held) return neptune::WriteFileAtomically(path, "");
  std::error_code error;
  fs::remove(path, error);
  if (error) return neptune::Unavailable("removing ", path, ": ", error.message());
  return neptune::OkStatus();
}

}  // namespace search::tools
