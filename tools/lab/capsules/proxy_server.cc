#include "tools/lab/capsules/proxy_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "neptune/base/descriptor.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"

namespace search::lab {
namespace {

namespace fs = std::filesystem;
using neptune::Endpoint;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;

constexpr char kProgram[] = "/usr/sbin/apache2";
constexpr char kModules[] = "/usr/lib/apache2/modules/";
constexpr int kAnswerAttemptCount = 200;
constexpr int kAttemptMs = 50;
constexpr int kEndAttemptCount = 200;

// KeepAlive is off because a kept connection holds a thread. The balancer has its defaults: it uses
// replicas in turn, keeps its connections, and excludes a replica that refuses connections for a
// minute.
std::string Configuration(const std::string& folder, const Endpoint& endpoint,
                          const ProxyServerOptions& options) {
  std::string text = StrCat("ServerRoot ", folder, "\nPidFile httpd.pid\nDefaultRuntimeDir .\n",
                            "ServerName localhost\nListen ", endpoint.ToString(), "\n");
  for (const char* const module : {"mpm_worker", "authz_core", "proxy", "proxy_http",
                                   "proxy_balancer", "slotmem_shm", "lbmethod_byrequests"}) {
    StrAppend(&text, "LoadModule ", module, "_module ", kModules, "mod_", module, ".so\n");
  }
  StrAppend(&text, "User nobody\nGroup nogroup\nErrorLog error.log\nLogLevel warn\nKeepAlive Off\n",
            "ServerLimit 1\nStartServers 1\nMaxConnectionsPerChild 0\n");
  for (const char* const limit :
       {"ThreadLimit", "ThreadsPerChild", "MaxRequestWorkers", "MaxSpareThreads"}) {
    StrAppend(&text, limit, " ", options.thread_count, "\n");
  }
  StrAppend(&text, "MinSpareThreads 1\n<Proxy balancer://replicas>\n");
  for (const Endpoint& replica : options.replicas) {
    StrAppend(&text, "BalancerMember http://", replica.ToString(), "\n");
  }
  StrAppend(&text, "ProxySet lbmethod=byrequests\n</Proxy>\nProxyPass / balancer://replicas/\n");
  return text;
}

StatusOr<std::string> MakeFolder() {
  const char* const test_folder = std::getenv("TEST_TMPDIR");
  std::string pattern = StrCat(
      test_folder != nullptr ? test_folder : fs::temp_directory_path().string(), "/proxy.XXXXXX");
  if (mkdtemp(pattern.data()) == nullptr) return neptune::Unavailable("no folder ", pattern);
  // Apache does not serve as root, so its user must be able to write here.
  chmod(pattern.c_str(), 01777);
  return pattern;
}

void Pause() { poll(nullptr, 0, kAttemptMs); }

// Returns whether a complete request gets status 200.
bool Answers(const Endpoint& endpoint) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(endpoint.address);
  address.sin_port = htons(endpoint.port);
  const std::string request = "GET /?q=ready HTTP/1.0\r\n\r\n";
  char answer[16] = "";
  const timeval limit{.tv_sec = 1};
  setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  const bool answered =
      connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      write(client, request.data(), request.size()) == static_cast<ssize_t>(request.size()) &&
      recv(client, answer, sizeof(answer) - 1, MSG_WAITALL) > 0;
  close(client);
  return answered && std::string_view(answer).find(" 200") != std::string_view::npos;
}

}  // namespace

bool ProxyServer::IsInstalled() { return access(kProgram, X_OK) == 0; }

StatusOr<std::unique_ptr<ProxyServer>> ProxyServer::Start(const ProxyServerOptions& options) {
  if (!IsInstalled()) return neptune::NotFound(kProgram, ": not installed (apache2-bin)");
  NEPTUNE_ASSIGN_OR_RETURN(std::string folder, MakeFolder());
  const Endpoint endpoint{neptune::kLoopbackAddress, neptune::UniquePort().number()};
  std::unique_ptr<ProxyServer> server(new ProxyServer(std::move(folder), endpoint));
  NEPTUNE_RETURN_IF_ERROR(server->Launch(options));
  NEPTUNE_RETURN_IF_ERROR(server->AwaitAnswer());
  return server;
}

std::vector<std::string> ProxyServer::Environment(const ProxyServerOptions& options) const {
  if (options.preload_library.empty()) return {};
  const std::string capsules = folder_ + "/capsules.conf";
  std::ofstream(capsules) << options.capsules;
  return {StrCat("LD_PRELOAD=", fs::absolute(options.preload_library).string()),
          StrCat("NEPTUNE_CAPSULES=", capsules),
          StrCat("NEPTUNE_CAPSULE_STATUS=", folder_, "/status")};
}

Status ProxyServer::Launch(const ProxyServerOptions& options) {
  const std::string configuration = folder_ + "/httpd.conf";
  std::ofstream(configuration) << Configuration(folder_, endpoint_, options);
  const neptune::Descriptor output(
      open((folder_ + "/error.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  NEPTUNE_ASSIGN_OR_RETURN(
      process_, neptune::Process::Start(
                    {.command = {kProgram, "-d", folder_, "-f", configuration, "-DFOREGROUND"},
                     .environment = Environment(options),
                     .output = output.number(),
                     .error = output.number(),
                     .in_own_group = true}));
  return neptune::OkStatus();
}

Status ProxyServer::AwaitAnswer() {
  for (int i = 0; i < kAnswerAttemptCount; ++i) {
    if (Answers(endpoint_)) return neptune::OkStatus();
    if (HasEnded()) break;
    Pause();
  }
  return neptune::Unavailable(kProgram, " does not answer: ", Log());
}

bool ProxyServer::HasEnded() {
  if (process_ && process_->TakeEnd()) process_.reset();
  return !process_;
}

ProxyServer::~ProxyServer() {
  if (!HasEnded()) process_->Signal(SIGTERM);
  for (int i = 0; i < kEndAttemptCount && !HasEnded(); ++i) Pause();
  process_.reset();  // kills all of it if it has not ended
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string ProxyServer::CapsuleStatus() const {
  return neptune::ReadFile(folder_ + "/status", 1 << 20).value_or("");
}

std::string ProxyServer::Log() const {
  return neptune::ReadFile(folder_ + "/error.log", 1 << 20).value_or("");
}

}  // namespace search::lab
