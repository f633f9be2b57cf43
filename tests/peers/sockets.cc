#include "tests/peers/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace neptune::peers {
namespace {

int CheckedSocket(int result, const char* doing) {
  if (result >= 0) return result;
  std::perror(doing);
  std::exit(1);
}

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

void SendAtOnce(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

int ListenOnLoopback(uint16_t* port) {
  const int socket = CheckedSocket(::socket(AF_INET, SOCK_STREAM, 0), "socket");
  sockaddr_in address = Loopback(0);
  CheckedSocket(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), "bind");
  CheckedSocket(listen(socket, 1024), "listen");
  socklen_t size = sizeof(address);
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  *port = ntohs(address.sin_port);
  return socket;
}

int ConnectToLoopback(uint16_t port) {
  const int socket = CheckedSocket(::socket(AF_INET, SOCK_STREAM, 0), "socket");
  sockaddr_in address = Loopback(port);
  CheckedSocket(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), "connect");
  SendAtOnce(socket);
  return socket;
}

int AcceptFrom(int listener) {
  const int socket = CheckedSocket(accept(listener, nullptr, nullptr), "accept");
  SendAtOnce(socket);
  return socket;
}

void SetNonBlocking(int socket) {
  CheckedSocket(fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK), "fcntl");
}

bool SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool ReceiveAll(int socket, char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t received = recv(socket, bytes, size, 0);
    if (received <= 0) return false;
    bytes += received;
    size -= static_cast<size_t>(received);
  }
  return true;
}

}  // namespace neptune::peers
