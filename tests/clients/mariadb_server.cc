#include "tests/clients/mariadb_server.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr char kProgram[] = "/usr/sbin/mariadbd";

}  // namespace

StatusOr<std::unique_ptr<MariadbServer>> MariadbServer::Start() { return StartAtFreePort(StartAt); }

StatusOr<std::unique_ptr<MariadbServer>> MariadbServer::StartAt(uint16_t port) {
  const std::string folder = StrCat(ServerFolder(), "/mariadb-", getpid(), "-", port);
  std::filesystem::create_directory(folder);
  std::unique_ptr<MariadbServer> server(new MariadbServer(port, folder));
  std::vector<std::string> command = {kProgram,
                                      "--no-defaults",
                                      "--datadir=" + folder,
                                      "--socket=" + folder + "/socket",
                                      "--bind-address=127.0.0.1",
                                      StrCat("--port=", port),
                                      "--skip-grant-tables",
                                      "--skip-innodb",
                                      "--default-storage-engine=MEMORY",
                                      "--max-connections=1000",
                                      "--back-log=1000",
                                      "--log-warnings=0"};
  if (geteuid() == 0) command.push_back("--user=root");  // required to run as root
  NEPTUNE_ASSIGN_OR_RETURN(server->process_,
                           ServerProcess::Start(command, {"ready for connections"}));
  return server;
}

MariadbServer::~MariadbServer() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace neptune
