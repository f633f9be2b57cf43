// Any bytes, in any pieces and with any pauses, as what a client sends on one connection: every
// request that gets to the handler has one response, in the order of the requests; at most one
// response follows, an error that ends the connection; and nothing is left when the client is gone.
//
// The input is a sequence of pieces: a byte for the size, a byte for the pause after it, the bytes.

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/wire/http/response_reader.h"
#include "neptune/world/sim/simulator.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kPiecesMax = 200;

FuzzPlace answered_request("a request is answered");
FuzzPlace pipelined_request("several requests are answered");
FuzzPlace refused_bytes("an error is answered");

struct Client final : public StreamHandler {
  void OnData(std::string_view bytes) override { received += bytes; }
  void OnClosed(const Status&) override { stream.reset(); }
  std::unique_ptr<Stream> stream;
  std::string received;
};

class Exchange {
 public:
  Exchange() {
    SimWorld& host = simulator_.AddHost({.name = "server"});
    server_loop_ = *host.StartLoop({.name = "loop"});
    HttpServerOptions options;
    options.reader.header_size_max = 2048;
    options.reader.body_size_max = 4096;
    server_loop_->Post([this, &host, options] {
      threads_ = std::make_unique<ThreadScheduler>(*server_loop_);
      server_ = std::make_unique<HttpServer>(
          host, *threads_, options, [this](const HttpRequest& request) { return Answer(request); });
      CHECK(server_->Listen({0, 80}).ok());
    });
    simulator_.RunFor(milliseconds(5));
    Loop& client_loop = **simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"});
    client_loop.network().Connect({host.address(), 80}, client_loop.Now() + seconds(1),
                                  [this](StatusOr<std::unique_ptr<Stream>> stream) {
                                    CHECK(stream.ok());
                                    client_.stream = *std::move(stream);
                                    client_.stream->Start(&client_);
                                  });
    simulator_.RunFor(milliseconds(5));
  }

  void Send(std::string_view bytes, Duration pause) {
    if (client_.stream == nullptr) return;
    client_.stream->Write(std::string(bytes));
    if (pause > Duration(0)) simulator_.RunFor(pause);
  }

  void CheckAnswers() {
    simulator_.RunFor(milliseconds(200));
    HttpResponseReader reader;
    for (const std::string& method : methods_) reader.Expect(method);
    reader.Expect("GET");  // an error
    reader.Feed(client_.received);
    if (client_.stream == nullptr) reader.FeedEnd();
    size_t count = 0;
    for (;; ++count) {
      const auto response = reader.Next();
      CHECK(response.ok()) << response.status() << "\n" << client_.received;
      if (!response->has_value()) break;
      CheckResponse(count, **response);
    }
    // A connection that is open owes no answer.
    CHECK(client_.stream == nullptr || count >= methods_.size()) << client_.received;
    CHECK_LE(count, methods_.size() + 1) << client_.received;
  }

  ~Exchange() {
    client_.stream.reset();
    simulator_.RunFor(milliseconds(200));
    CHECK_EQ(threads_->live_count(), 0u) << "a handler outlives its client";
    CHECK_EQ(server_->connection_count(), 0u);
    server_.reset();
    threads_->Stop();
    simulator_.RunFor(seconds(1));
  }

 private:
  HttpResponse Answer(const HttpRequest& request) {
    const size_t number = methods_.size();
    methods_.push_back(request.method);
    CHECK_LE(request.body.size(), 4096u);
    // Every second one is late, so that later ones are done before it.
    if (number % 2 == 0) this_thread::SleepFor(milliseconds(3));
    return HttpResponse::Text(200, StrCat("answer ", number));
  }

  void CheckResponse(size_t place, const HttpResponse& response) {
    if (place >= methods_.size()) {
      CHECK_GE(response.status, 400) << client_.received;
      return refused_bytes.Reach();
    }
    CHECK_EQ(response.status, 200) << client_.received;
    const std::string expected = methods_[place] == "HEAD" ? "" : StrCat("answer ", place);
    CHECK_EQ(response.body_bytes(), expected) << client_.received;
    answered_request.Reach();
    if (place > 0) pipelined_request.Reach();
  }

  Simulator simulator_{1};
  Loop* server_loop_ = nullptr;
  std::unique_ptr<ThreadScheduler> threads_;
  std::unique_ptr<HttpServer> server_;
  Client client_;
  std::vector<std::string> methods_;  // of the requests that got to the handler
};

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace neptune;
  Exchange exchange;
  ByteReader in({reinterpret_cast<const char*>(data), size});
  for (size_t i = 0; i < kPiecesMax && in.remaining() > 0; ++i) {
    const uint8_t piece_size = in.Number<uint8_t>();
    const uint8_t pause = in.Number<uint8_t>();
    const std::string_view bytes = in.Bytes(std::min<size_t>(piece_size, in.remaining()));
    exchange.Send(bytes, milliseconds(pause % 8));
  }
  exchange.CheckAnswers();
  return 0;
}
