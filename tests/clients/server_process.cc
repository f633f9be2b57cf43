#include "tests/clients/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace neptune {
namespace {

constexpr size_t kFolderSizeMax = 60;  // a socket file's name has 107 at most

[[noreturn]] void Become(const std::vector<std::string>& command, int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  std::vector<char*> pointers;
  for (const std::string& word : command) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  _exit(127);
}

}  // namespace

StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Start(
    const std::vector<std::string>& command, const std::vector<std::string>& ready) {
  if (!std::filesystem::exists(command[0])) return NotFound(command[0], " is not installed");
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) return Unavailable("cannot create a pipe for ", command[0]);
  const pid_t process = fork();
  if (process == 0) Become(command, output[1]);
  close(output[1]);
  if (process < 0) {
    close(output[0]);
    return Unavailable("cannot create a process for ", command[0]);
  }
  std::unique_ptr<ServerProcess> server(new ServerProcess(process, output[0]));
  if (!server->WaitUntilReady(ready)) return Unavailable(command[0], " did not start");
  return server;
}

ServerProcess::~ServerProcess() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  close(output_);
}

void ServerProcess::Signal(int signal) const {
  kill(process_, signal);
  if (signal != SIGSTOP) return;
  // The signal only begins to stop the threads of the process; one of them could still answer.
  siginfo_t stopped;
  waitid(P_PID, static_cast<id_t>(process_), &stopped, WSTOPPED | WEXITED | WNOWAIT);
}

bool ServerProcess::WaitUntilReady(const std::vector<std::string>& ready) {
  std::string said;
  char data[1024];
  ssize_t size;
  while ((size = read(output_, data, sizeof(data))) > 0) {
    said.append(data, static_cast<size_t>(size));
    const auto is_said = [&](const std::string& text) { return said.find(text) != said.npos; };
    if (std::all_of(ready.begin(), ready.end(), is_said)) return true;
  }
  return false;
}

std::string ServerFolder() {
  const char* const folder = std::getenv("TEST_TMPDIR");
  return folder == nullptr || std::string_view(folder).size() > kFolderSizeMax ? "/tmp" : folder;
}

}  // namespace neptune
