// Raw TCP ping-pong with blocking sockets: what the transport itself costs a round trip.
//
//   tcp_ping serve
//   tcp_ping ping OPTIONS [--fresh]    see load.h; the steady time only

#include <gflags/gflags.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/peers/load.h"
#include "tests/peers/sockets.h"

DEFINE_bool(fresh, false, "ping: a connection for each round trip");

namespace neptune::peers {
namespace {

// Large enough for the frames that a call of 64 bytes takes.
constexpr size_t kMessageSize = 128;

// One connection after the other.
[[noreturn]] void ServeForever(int listener) {
  char bytes[kMessageSize];
  while (true) {
    const int socket = AcceptFrom(listener);
    while (ReceiveAll(socket, bytes, sizeof(bytes)) && SendAll(socket, {bytes, sizeof(bytes)})) {
    }
    close(socket);
  }
}

int RunServe() {
  uint16_t port = 0;
  const int listener = ListenOnLoopback(&port);
  std::thread server([listener] { ServeForever(listener); });
  ReportPort(port);
  ServeUntilInputEnds();
  std::_Exit(0);  // the server thread waits for connections forever
}

int RunPing() {
  const LoadOptions options = LoadOptionsFromFlags();
  const std::string message(kMessageSize, 'x');
  char answer[kMessageSize];
  int socket = FLAGS_fresh ? -1 : ConnectToLoopback(options.port);
  Meter meter(options);
  for (int64_t begin = NowNs();; begin = NowNs()) {
    if (FLAGS_fresh) {
      if (socket >= 0) close(socket);  // of the round trip before; it costs this one
      socket = ConnectToLoopback(options.port);
    }
    if (!SendAll(socket, message) || !ReceiveAll(socket, answer, sizeof(answer))) return 1;
    if (!meter.Count(begin, false)) return 0;
  }
}

}  // namespace
}  // namespace neptune::peers

int main(int argc, char** argv) {
  const std::string command = neptune::peers::ConsumeCommand(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (command == "serve") return neptune::peers::RunServe();
  if (command == "ping") return neptune::peers::RunPing();
  std::fprintf(stderr, "tcp_ping serve|ping [OPTIONS]\n");
  return 2;
}
