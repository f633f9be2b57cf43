// What HTTP costs: reading, writing, and a whole exchange over loopback.

#include <benchmark/benchmark.h>
#include <glog/logging.h>

#include <memory>

#include "absl/synchronization/notification.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/wire/http/http_test_client.h"
#include "neptune/wire/http/message_writer.h"
#include "neptune/wire/http/request_reader.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

constexpr std::string_view kRequest =
    "GET /search?q=user+level+threads&count=10 HTTP/1.1\r\nHost: localhost:8080\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: text/html,application/xhtml+xml\r\n"
    "Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate\r\n"
    "Connection: keep-alive\r\n\r\n";

void BM_ReadRequest(benchmark::State& state) {
  HttpRequestReader reader;
  for (auto _ : state) {
    reader.Feed(kRequest);
    benchmark::DoNotOptimize(reader.Next());
  }
}
BENCHMARK(BM_ReadRequest);

void BM_SerializeResponse(benchmark::State& state) {
  HttpResponse response = HttpResponse::Html(200, std::string(10'000, 'x'));
  AddSecurityHeaders(&response);
  for (auto _ : state) benchmark::DoNotOptimize(SerializeHttpResponse(response, {}, {}));
}
BENCHMARK(BM_SerializeResponse);

// One client on one connection with `range(0)` requests in flight; items are exchanges.
void BM_Exchange(benchmark::State& state) {
  const auto world = MakeRealWorld({});
  Loop& server_loop = **world->StartLoop({.name = "server"});
  Loop& client_loop = **world->StartLoop({.name = "client"});
  std::unique_ptr<ThreadScheduler> threads;
  std::unique_ptr<HttpServer> server;
  absl::Notification listening;
  server_loop.Post([&] {
    threads = std::make_unique<ThreadScheduler>(server_loop);
    server = std::make_unique<HttpServer>(
        *world, *threads, HttpServerOptions{},
        [](const HttpRequest&) { return HttpResponse::Text(200, "hello"); });
    CHECK(server->Listen({kLoopbackAddress, 0}).ok());
    listening.Notify();
  });
  listening.WaitForNotification();
  constexpr int64_t kBatch = 1000;
  HttpTestClient client(client_loop);
  client_loop.Post([&] { client.Connect(server->local()); });
  for (auto _ : state) {
    absl::Notification done;
    client_loop.Post([&] {
      client.ForgetResponses();
      int64_t sent = state.range(0);
      client.set_on_response([&, sent]() mutable {
        if (sent++ < kBatch) client.SendBytes(kRequest);
        if (client.responses().size() == kBatch) done.Notify();
      });
      for (int64_t i = 0; i < state.range(0); ++i) client.SendBytes(kRequest);
    });
    done.WaitForNotification();
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
  absl::Notification closed;
  client_loop.Post([&] { client.Close(), closed.Notify(); });
  closed.WaitForNotification();
  world->Stop();
}
BENCHMARK(BM_Exchange)->Arg(1)->Arg(16)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace neptune
