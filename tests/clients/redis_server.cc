#include "tests/clients/redis_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"

namespace neptune {
namespace {

constexpr int kAttemptCount = 5;
constexpr char kProgram[] = "/usr/bin/redis-server";

[[noreturn]] void BecomeRedis(const std::vector<std::string>& arguments, int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(output, STDOUT_FILENO);
  std::vector<char*> pointers = {const_cast<char*>(kProgram)};
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  execv(kProgram, pointers.data());
  _exit(127);
}

std::string SocketFolder() {
  const char* const folder = std::getenv("TEST_TMPDIR");
  // The name of a socket file has to be short.
  return folder == nullptr || std::string_view(folder).size() > 60 ? "/tmp" : folder;
}

}  // namespace

StatusOr<std::unique_ptr<RedisServer>> RedisServer::Start() {
  if (!std::filesystem::exists(kProgram)) return NotFound(kProgram, " is not installed");
  Status last;
  for (int attempt = 0; attempt < kAttemptCount; ++attempt) {
    // Another process may take the port before the server does.
    const uint16_t port = UniquePort().number();
    auto server = StartAt(port);
    if (server.ok()) return server;
    last = server.status();
  }
  return last;
}

StatusOr<std::unique_ptr<RedisServer>> RedisServer::StartAt(uint16_t port) {
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) return Unavailable("no pipe for redis-server");
  const std::string socket_path = StrCat(SocketFolder(), "/redis-", getpid(), "-", port, ".socket");
  const std::vector<std::string> arguments = {
      "--bind",      "127.0.0.1", "--port",       StrCat(port), "--unixsocket", socket_path,
      "--save",      "",          "--appendonly", "no",         "--maxclients", "5000",
      "--daemonize", "no",        "--logfile",    "",           "--dir",        SocketFolder()};
  const pid_t process = fork();
  if (process == 0) BecomeRedis(arguments, output[1]);
  close(output[1]);
  if (process < 0) {
    close(output[0]);
    return Unavailable("no process for redis-server");
  }
  std::unique_ptr<RedisServer> server(new RedisServer(process, output[0], port, socket_path));
  if (!server->WaitUntilReady()) return Unavailable("redis-server did not start at port ", port);
  return server;
}

RedisServer::~RedisServer() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  close(output_);
  std::error_code ignored;
  std::filesystem::remove(socket_path_, ignored);
}

void RedisServer::Signal(int signal) const { kill(process_, signal); }

bool RedisServer::WaitUntilReady() {
  std::string said;
  char data[1024];
  ssize_t size;
  while ((size = read(output_, data, sizeof(data))) > 0) {
    said.append(data, static_cast<size_t>(size));
    if (said.find("Ready to accept connections") == std::string::npos) continue;
    // The socket file is there a line later.
    if (said.find("at " + socket_path_) != std::string::npos) return true;
  }
  return false;
}

}  // namespace neptune
