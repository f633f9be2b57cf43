#include "tests/clients/redis_server.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr char kProgram[] = "/usr/bin/redis-server";

}  // namespace

StatusOr<std::unique_ptr<RedisServer>> RedisServer::Start() { return StartAtFreePort(StartAt); }

StatusOr<std::unique_ptr<RedisServer>> RedisServer::StartAt(uint16_t port) {
  const std::string socket_path = StrCat(ServerFolder(), "/redis-", getpid(), "-", port, ".socket");
  const std::vector<std::string> command = {
      kProgram,      "--bind",      "127.0.0.1", "--port",       StrCat(port), "--unixsocket",
      socket_path,   "--save",      "",          "--appendonly", "no",         "--maxclients",
      "5000",        "--daemonize", "no",        "--logfile",    "",           "--dir",
      ServerFolder()};
  // The socket file exists one log line later.
  NEPTUNE_ASSIGN_OR_RETURN(
      auto process,
      ServerProcess::Start(command, {"Ready to accept connections", "at " + socket_path}));
  return std::unique_ptr<RedisServer>(new RedisServer(std::move(process), port, socket_path));
}

RedisServer::~RedisServer() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove(socket_path_, ignored);
}

}  // namespace neptune
