// What HTTP costs: reading, writing, and a whole exchange over loopback, on one loop and on many.

#include <benchmark/benchmark.h>
#include <glog/logging.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "neptune/base/metrics.h"
#include "neptune/wire/connection_slots.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/wire/http/http_test_client.h"
#include "neptune/wire/http/message_writer.h"
#include "neptune/wire/http/request_glance.h"
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

void BM_Glance(benchmark::State& state) {
  HttpGlance glance;
  for (auto _ : state) benchmark::DoNotOptimize(GlanceAt(kRequest, {}, &glance));
}
BENCHMARK(BM_Glance);

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

// Answers every request with a page of some KiB.
class ShortAnswers final : public HttpShortWay {
 public:
  explicit ShortAnswers(const HttpResponse& response)
      : head_(PrepareHead(response)), body_(response.body) {}
  bool Answer(const HttpGlance& request, std::string* out) override {
    out->reserve(out->size() + head_.begin.size() + head_.end.size() + body_.size());
    out->append(head_.begin).append(head_.end).append(body_);
    return true;
  }

 private:
  const PreparedHttpHead head_;
  const std::string body_;
};

const HttpResponse& Page() {
  static const HttpResponse& page =
      *new HttpResponse(HttpResponse::Json(200, std::string(3000, 'x')));
  return page;
}

// Server loops of a node, each with a client loop of its own; items are exchanges. The processor
// time of an exchange stays the same with more loops as long as they share no writes, also if there
// are more loops than processors.
class LoopsBench {
 public:
  static constexpr int64_t kBatch = 500;  // exchanges of each loop in an iteration
  static constexpr int64_t kInFlight = 8;

  LoopsBench(size_t count, bool has_short_way)
      : has_short_way_(has_short_way), metrics_(*HttpServerMetrics::Make(registry_, "bench")) {
    for (size_t i = 0; i < count; ++i) Start();
  }
  ~LoopsBench() {
    for (const auto& one : loops_) {
      Run(*one->client_loop, [&] { one->client.reset(); });
      Run(*one->server_loop, [&] { one->server.reset(); });
    }
    world_->Stop();
  }

  // Every client makes kBatch exchanges; returns when all are done.
  void Exchange() {
    absl::BlockingCounter left(static_cast<int>(loops_.size()));
    for (const auto& one : loops_) {
      one->client_loop->Post([&left, &client = *one->client] {
        client.ForgetResponses();
        client.set_on_response([&left, &client, sent = kInFlight]() mutable {
          if (sent++ < kBatch) client.SendBytes(kRequest);
          if (client.responses().size() == kBatch) left.DecrementCount();
        });
        for (int64_t i = 0; i < kInFlight; ++i) client.SendBytes(kRequest);
      });
    }
    left.Wait();
  }

 private:
  struct LoopPair {
    Loop* server_loop = nullptr;
    Loop* client_loop = nullptr;
    ShortAnswers short_answers{Page()};
    std::unique_ptr<ThreadScheduler> threads{};
    std::unique_ptr<HttpServer> server{};
    std::unique_ptr<HttpTestClient> client{};
  };

  static void Run(Loop& loop, const std::function<void()>& work) {
    absl::Notification done;
    loop.Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  }

  // A server loop with a port of its own, so that every loop has the same work.
  void Start() {
    loops_.push_back(std::make_unique<LoopPair>());
    LoopPair& one = *loops_.back();
    one.server_loop = *world_->StartLoop({.name = "server"});
    one.client_loop = *world_->StartLoop({.name = "client"});
    Run(*one.server_loop, [&] {
      one.threads = std::make_unique<ThreadScheduler>(*one.server_loop);
      one.server = std::make_unique<HttpServer>(
          *world_, *one.threads,
          HttpServerOptions{.short_way = has_short_way_ ? &one.short_answers : nullptr,
                            .slots = slots_,
                            .metrics = &metrics_},
          [](const HttpRequest&) { return Page(); });
      CHECK(one.server->Listen({kLoopbackAddress, 0}).ok());
    });
    Run(*one.client_loop, [&] {
      one.client = std::make_unique<HttpTestClient>(*one.client_loop);
      one.client->Connect(one.server->local());
    });
  }

  const bool has_short_way_;
  const std::unique_ptr<World> world_ = MakeRealWorld({});
  const std::shared_ptr<ConnectionSlots> slots_ = std::make_shared<ConnectionSlots>(1000);
  MetricsRegistry registry_;
  const HttpServerMetrics metrics_;
  std::vector<std::unique_ptr<LoopPair>> loops_;
};

void ExchangeOnLoops(bool has_short_way, benchmark::State& state) {
  LoopsBench bench(static_cast<size_t>(state.range(0)), has_short_way);
  for (auto _ : state) bench.Exchange();
  const int64_t exchanges = state.range(0) * LoopsBench::kBatch;
  state.SetItemsProcessed(state.iterations() * exchanges);
  state.counters["exchanges"] = static_cast<double>(exchanges);
}

void BM_ExchangeOnLoops(benchmark::State& state) { ExchangeOnLoops(false, state); }
BENCHMARK(BM_ExchangeOnLoops)
    ->RangeMultiplier(2)
    ->Range(1, 16)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void BM_ShortExchangeOnLoops(benchmark::State& state) { ExchangeOnLoops(true, state); }
BENCHMARK(BM_ShortExchangeOnLoops)
    ->RangeMultiplier(2)
    ->Range(1, 16)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace neptune
