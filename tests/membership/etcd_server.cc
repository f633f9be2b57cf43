#include "tests/membership/etcd_server.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr char kProgram[] = "/usr/bin/etcd";

std::string Url(uint16_t port) { return StrCat("http://127.0.0.1:", port); }

}  // namespace

EtcdServer::EtcdServer(uint16_t port, uint16_t peer_port)
    : port_(port),
      peer_port_(peer_port),
      folder_(StrCat(ServerFolder(), "/etcd-", getpid(), "-", port)) {}

StatusOr<std::unique_ptr<EtcdServer>> EtcdServer::Start() { return StartAtFreePort(StartAt); }

StatusOr<std::unique_ptr<EtcdServer>> EtcdServer::StartAt(uint16_t port) {
  std::unique_ptr<EtcdServer> server(new EtcdServer(port, UniquePort().number()));
  NEPTUNE_RETURN_IF_ERROR(server->Run());
  return server;
}

Status EtcdServer::Run() {
  // It says little after its start: its log stays below what a pipe holds.
  const std::vector<std::string> command = {kProgram,
                                            "--data-dir",
                                            folder_,
                                            "--listen-client-urls",
                                            Url(port_),
                                            "--advertise-client-urls",
                                            Url(port_),
                                            "--listen-peer-urls",
                                            Url(peer_port_),
                                            "--initial-advertise-peer-urls",
                                            Url(peer_port_),
                                            "--initial-cluster",
                                            "default=" + Url(peer_port_),
                                            "--log-level",
                                            "info"};
  NEPTUNE_ASSIGN_OR_RETURN(process_, ServerProcess::Start(command, {"serving insecure client"}));
  return OkStatus();
}

void EtcdServer::Kill() { process_.reset(); }

Status EtcdServer::StartAgain(bool empty) {
  std::error_code ignored;
  if (empty) std::filesystem::remove_all(folder_, ignored);
  return Run();
}

EtcdServer::~EtcdServer() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace neptune
