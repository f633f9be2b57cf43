#include "tools/chaos/server_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "neptune/base/strings.h"

namespace search::chaos {

ServerProcess::ServerProcess(std::vector<std::string> arguments, std::string log, int network)
    : arguments_(std::move(arguments)), log_(std::move(log)), network_(network) {}

ServerProcess::~ServerProcess() {
  if (lives()) Kill();
}

neptune::Status ServerProcess::Start() {
  std::vector<char*> words;
  for (const std::string& word : arguments_) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int log = open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) return neptune::Unavailable("opening ", log_, ": ", std::strerror(errno));
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    if (network_ >= 0 && setns(network_, CLONE_NEWNET) != 0) _exit(126);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execv(words[0], words.data());
    _exit(127);
  }
  close(log);
  if (pid < 0) return neptune::Unavailable("starting ", arguments_[0], ": ", std::strerror(errno));
  process_ = pid;
  return neptune::OkStatus();
}

bool ServerProcess::HasEnded() {
  if (!lives() || waitpid(process_, nullptr, WNOHANG) != process_) return false;
  process_ = 0;
  return true;
}

void ServerProcess::Kill() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = 0;
}

void ServerProcess::Pause() { kill(process_, SIGSTOP); }

void ServerProcess::Resume() { kill(process_, SIGCONT); }

neptune::Status ServerProcess::StarveOfDisk() {
  const rlimit none = {0, 0};
  if (prlimit(process_, RLIMIT_FSIZE, &none, nullptr) == 0) return neptune::OkStatus();
  return neptune::Unavailable("limiting the files of a process: ", std::strerror(errno));
}

}  // namespace search::chaos
