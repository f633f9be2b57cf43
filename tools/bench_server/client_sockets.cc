#include "tools/bench_server/client_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace search::tools {
namespace {

constexpr size_t kConnectionsPerAddress = 20'000;
constexpr uint32_t kFirstSource = 0x7F000002;  // 127.0.0.2
// Further attempts are given up after this many connections in a row that could not be made.
constexpr int kFailuresMax = 20;
constexpr int kConnectTimeoutS = 2;

sockaddr_in LoopbackAddress(uint32_t address, uint16_t port) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(address);
  where.sin_port = htons(port);
  return where;
}

bool Connect(int socket, uint16_t port) {
  const sockaddr_in server = LoopbackAddress(INADDR_LOOPBACK, port);
  return connect(socket, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) == 0;
}

int OpenIdle(uint32_t source, uint16_t port) {
  const int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (opened < 0) return -1;
  const int on = 1;
  setsockopt(opened, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
  const timeval timeout{.tv_sec = kConnectTimeoutS, .tv_usec = 0};
  setsockopt(opened, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  const sockaddr_in from = LoopbackAddress(source, 0);
  if (bind(opened, reinterpret_cast<const sockaddr*>(&from), sizeof(from)) == 0 &&
      Connect(opened, port)) {
    return opened;
  }
  close(opened);
  return -1;
}

}  // namespace

int BeginConnection(uint16_t port) {
  const int opened = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (opened < 0) return -1;
  const int on = 1;
  setsockopt(opened, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (Connect(opened, port) || errno == EINPROGRESS) return opened;
  close(opened);
  return -1;
}

void AllowDescriptors(size_t count) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  rlimit wanted = limit;
  wanted.rlim_max = std::max<rlim_t>(limit.rlim_max, count);
  wanted.rlim_cur = wanted.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &wanted) == 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

IdleConnections::IdleConnections(uint16_t port, size_t count) {
  int failures = 0;
  while (sockets_.size() < count && failures < kFailuresMax) {
    const auto source = static_cast<uint32_t>(sockets_.size() / kConnectionsPerAddress);
    const int opened = OpenIdle(kFirstSource + source, port);
    failures = opened < 0 ? failures + 1 : 0;
    if (opened >= 0) sockets_.push_back(opened);
  }
}

IdleConnections::~IdleConnections() {
  for (const int open : sockets_) close(open);
}

size_t IdleConnections::CountAlive() const {
  return static_cast<size_t>(std::count_if(sockets_.begin(), sockets_.end(), [](int open) {
    char byte = 0;
    const ssize_t got = recv(open, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    return got > 0 || (got < 0 && errno == EAGAIN);
  }));
}

}  // namespace search::tools
