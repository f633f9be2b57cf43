// The floor: a bare epoll server that parses and answers the same message, one thread, one write
// for each read.
//
//   epoll_echo serve
//   epoll_echo load OPTIONS     closed loop; see load.h
//
// A frame is its size in four bytes, big-endian, and an EchoMessage. Nothing else is checked or
// kept.

#include <arpa/inet.h>
#include <gflags/gflags.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tests/peers/echo.pb.h"
#include "tests/peers/load.h"
#include "tests/peers/sockets.h"

namespace neptune::peers {
namespace {

constexpr size_t kBufferSize = 64 * 1024;
constexpr int kEventCountMax = 256;

void AppendFrame(const EchoMessage& message, std::string* out) {
  const auto size = static_cast<uint32_t>(message.ByteSizeLong());
  const uint32_t prefix = htonl(size);
  const size_t begin = out->size();
  out->resize(begin + sizeof(prefix) + size);
  std::memcpy(out->data() + begin, &prefix, sizeof(prefix));
  message.SerializeWithCachedSizesToArray(
      reinterpret_cast<uint8_t*>(out->data() + begin + sizeof(prefix)));
}

// Hands each whole frame in `buffer` to `take` and removes it.
template <typename Take>
void HandleFrames(std::string* buffer, Take take) {
  size_t at = 0;
  while (buffer->size() - at >= sizeof(uint32_t)) {
    uint32_t size = 0;
    std::memcpy(&size, buffer->data() + at, sizeof(size));
    size = ntohl(size);
    if (buffer->size() - at - sizeof(size) < size) break;
    take(std::string_view(*buffer).substr(at + sizeof(size), size));
    at += sizeof(size) + size;
  }
  buffer->erase(0, at);
}

void Watch(int poller, int socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = socket;
  epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event);
}

// What one read of the socket gave, appended; false at the end of the connection.
bool ReadInto(int socket, std::string* buffer) {
  static thread_local char bytes[kBufferSize];
  const ssize_t size = recv(socket, bytes, sizeof(bytes), 0);
  if (size > 0) buffer->append(bytes, static_cast<size_t>(size));
  return size > 0 || (size < 0 && errno == EAGAIN);
}

void ServeForever(int listener) {
  const int poller = epoll_create1(0);
  Watch(poller, listener);
  std::unordered_map<int, std::string> buffers;
  EchoMessage request;
  EchoMessage response;
  std::string answers;
  std::vector<epoll_event> events(kEventCountMax);
  while (true) {
    const int count = epoll_wait(poller, events.data(), kEventCountMax, -1);
    for (int i = 0; i < count; ++i) {
      const int socket = events[i].data.fd;
      if (socket == listener) {
        const int accepted = AcceptFrom(listener);
        Watch(poller, accepted);
        buffers[accepted];
        continue;
      }
      std::string& buffer = buffers[socket];
      if (!ReadInto(socket, &buffer)) {
        close(socket);
        buffers.erase(socket);
        continue;
      }
      answers.clear();
      HandleFrames(&buffer, [&](std::string_view bytes) {
        request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
        response.set_number(request.number());
        response.set_payload(request.payload());
        AppendFrame(response, &answers);
      });
      SendAll(socket, answers);
    }
  }
}

int RunServe() {
  uint16_t port = 0;
  const int listener = ListenOnLoopback(&port);
  std::thread server([listener] { ServeForever(listener); });
  ReportPort(port);
  ServeUntilInputEnds();
  std::_Exit(0);  // the server thread waits for events forever
}

struct Caller {
  std::string buffer;
  std::vector<int64_t> sent_ns;  // of the calls in flight, the oldest at `oldest`
  size_t oldest = 0;
};

int RunLoad() {
  const LoadOptions options = LoadOptionsFromFlags();
  EchoMessage message;
  message.set_number(20021115);
  message.set_payload(std::string(64, 'x'));
  std::string request;
  AppendFrame(message, &request);
  const int poller = epoll_create1(0);
  std::unordered_map<int, Caller> callers;
  Meter meter(options);
  for (int i = 0; i < options.connections; ++i) {
    const int socket = ConnectToLoopback(options.port);
    Watch(poller, socket);
    std::string requests;
    for (int j = 0; j < options.depth; ++j) requests += request;
    callers[socket].sent_ns.assign(static_cast<size_t>(options.depth), NowNs());
    SendAll(socket, requests);
  }
  std::vector<epoll_event> events(kEventCountMax);
  while (true) {
    const int count = epoll_wait(poller, events.data(), kEventCountMax, -1);
    for (int i = 0; i < count; ++i) {
      const int socket = events[i].data.fd;
      Caller& caller = callers[socket];
      if (!ReadInto(socket, &caller.buffer)) return 1;
      std::string requests;
      bool goes_on = true;
      HandleFrames(&caller.buffer, [&](std::string_view bytes) {
        if (bytes != std::string_view(request).substr(sizeof(uint32_t))) meter.CountLost();
        goes_on = goes_on && meter.Count(caller.sent_ns[caller.oldest], false);
        caller.sent_ns[caller.oldest] = NowNs();
        caller.oldest = (caller.oldest + 1) % caller.sent_ns.size();
        requests += request;
      });
      if (!goes_on) return 0;
      SendAll(socket, requests);
    }
  }
}

}  // namespace
}  // namespace neptune::peers

int main(int argc, char** argv) {
  const std::string command = neptune::peers::ConsumeCommand(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (command == "serve") return neptune::peers::RunServe();
  if (command == "load") return neptune::peers::RunLoad();
  std::fprintf(stderr, "epoll_echo serve|load [OPTIONS]\n");
  return 2;
}
