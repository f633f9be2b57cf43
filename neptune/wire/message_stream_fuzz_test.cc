// A peer that sends well-formed frames of any kind in any order to a server whose handler reads,
// echoes and stops reading as the bytes say: the server refuses or serves, holds no more than the
// windows allow, and has nothing left when the peer is gone.

#include <glog/logging.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "neptune/wire/server_connection.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Peer final : public StreamHandler {
  void OnData(std::string_view) override {}
  void OnClosed(const Status&) override { stream.reset(); }
  std::unique_ptr<Stream> stream;
};

// One operation in two bytes: what, and on which call or how large. Requests number themselves
// upwards, most of the time; the other frames go to one of the last four.
std::string FrameOf(uint8_t what, uint8_t which, uint64_t* last_call) {
  RequestHeader header;
  header.service = ServiceName("s");
  header.method = MethodName("m");
  header.stream = (which & 1) == 0;
  std::string section;
  std::string payload;
  const auto type = static_cast<FrameType>(1 + what % 7);
  if (type == FrameType::kRequest) section = EncodeRequestHeader(header);
  if (type == FrameType::kGrant) section = EncodeGrant(uint32_t{which} * 1024);
  if (type == FrameType::kMessage) payload.assign(size_t{what} * which * 4, 'x');
  if (what >= 250) section += "?";
  uint64_t call = *last_call - std::min<uint64_t>(*last_call, which % 4);
  if (type == FrameType::kRequest && which < 240) call = ++*last_call;
  std::string bytes;
  CHECK(AppendFrame(type, call, section, payload, &bytes).ok());
  return bytes;
}

// Serves every stream on a user-level thread: reads until the end, and echoes every second message.
class EchoingServer {
 public:
  explicit EchoingServer(Loop& loop) : threads_(loop) {
    FrameServerOptions options;
    options.stream_count_max = 2;
    server_ = std::make_unique<FrameServer>(
        loop, options, [this](IncomingRequest request) { Take(std::move(request)); });
  }

  FrameServer& server() { return *server_; }
  size_t live_count() const { return threads_.live_count(); }

 private:
  void Take(IncomingRequest request) {
    if (request.call->stream() == nullptr) return request.reply.Send({}, "done");
    const auto started = threads_.RunInPlace(
        [request = std::make_shared<IncomingRequest>(std::move(request))] { Echo(*request); });
    CHECK(started.ok()) << started.status();
  }
  static void Echo(IncomingRequest& request) {
    MessageStream& stream = *request.call->stream();
    Status status;
    for (int i = 0; status.ok(); ++i) {
      auto message = stream.Read(kNever);
      if (!message.ok() || !message->has_value()) break;
      if (i % 2 == 0) status = stream.Write(**std::move(message), kNever);
    }
    request.reply.Send({.status = status}, "");
  }

  ThreadScheduler threads_;
  std::unique_ptr<FrameServer> server_;
};

void Run(const uint8_t* data, size_t size) {
  Simulator simulator(1);
  SimWorld& host = simulator.AddHost({.name = "server"});
  Loop& server_loop = **host.StartLoop({.name = "loop"});
  Loop& client_loop = **simulator.AddHost({.name = "client"}).StartLoop({.name = "loop"});
  EchoingServer echoing(server_loop);
  CHECK(echoing.server().Listen({host.address(), 0}, false).ok());
  Peer peer;
  client_loop.network().Connect(echoing.server().local(), client_loop.Now() + seconds(1),
                                [&](StatusOr<std::unique_ptr<Stream>> stream) {
                                  CHECK(stream.ok());
                                  peer.stream = *std::move(stream);
                                  peer.stream->Start(&peer);
                                });
  simulator.RunFor(milliseconds(10));
  uint64_t last_call = 0;
  for (size_t i = 0; i + 1 < size && i < 400 && peer.stream != nullptr; i += 2) {
    peer.stream->Write(FrameOf(data[i], data[i + 1], &last_call));
    if (data[i + 1] % 8 == 0) simulator.RunFor(milliseconds(1));
  }
  simulator.RunFor(milliseconds(50));
  peer.stream.reset();
  simulator.RunFor(milliseconds(50));
  CHECK_EQ(echoing.live_count(), 0u) << "a handler outlives its caller";
  CHECK_EQ(echoing.server().connection_count(), 0u);
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  neptune::Run(data, size);
  return 0;
}
