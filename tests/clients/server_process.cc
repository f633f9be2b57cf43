#include "tests/clients/server_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace neptune {
namespace {

constexpr size_t kFolderSizeMax = 60;  // a socket file's name has 107 at most

}  // namespace

StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Start(
    const std::vector<std::string>& command, const std::vector<std::string>& ready) {
  if (!std::filesystem::exists(command[0])) return NotFound(command[0], " is not installed");
  NEPTUNE_ASSIGN_OR_RETURN(Pipe output, MakePipe());
  ProcessOptions options{.command = command};
  options.output = output.writing.number();
  options.error = output.writing.number();
  options.ends_with_caller = true;
  NEPTUNE_ASSIGN_OR_RETURN(Process process, Process::Start(options));
  output.writing.Close();
  std::unique_ptr<ServerProcess> server(
      new ServerProcess(std::move(output.reading), std::move(process)));
  if (!server->WaitUntilReady(ready)) return Unavailable(command[0], " did not start");
  return server;
}

void ServerProcess::Signal(int signal) const {
  process_.Signal(signal);
  if (signal != SIGSTOP) return;
  // The signal only begins to stop the threads of the process; one of them could still answer.
  siginfo_t stopped;
  waitid(P_PID, static_cast<id_t>(process_.id()), &stopped, WSTOPPED | WEXITED | WNOWAIT);
}

bool ServerProcess::WaitUntilReady(const std::vector<std::string>& ready) {
  std::string said;
  char data[1024];
  ssize_t size;
  while ((size = read(output_.number(), data, sizeof(data))) > 0) {
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
