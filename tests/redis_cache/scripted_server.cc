#include "tests/redis_cache/scripted_server.h"

#include <arpa/inet.h>
#include <glog/logging.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace search::cache {

ScriptedServer::ScriptedServer(std::string answer)
    : answer_(std::move(answer)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  CHECK_EQ(bind(listener_, any, size), 0);
  CHECK_EQ(listen(listener_, 16), 0);
  CHECK_EQ(getsockname(listener_, any, &size), 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

ScriptedServer::~ScriptedServer() {
  shutdown(listener_, SHUT_RDWR);  // wakes accept
  thread_.join();
  close(listener_);
}

void ScriptedServer::Serve() const {
  while (true) {
    const int peer = accept(listener_, nullptr, nullptr);
    if (peer < 0) return;
    char asked[4096];
    if (recv(peer, asked, sizeof(asked), 0) > 0) {
      (void)send(peer, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    }
    shutdown(peer, SHUT_WR);
    while (recv(peer, asked, sizeof(asked), 0) > 0) {
    }
    close(peer);
  }
}

}  // namespace search::cache
