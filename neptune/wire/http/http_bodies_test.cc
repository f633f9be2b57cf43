// Bodies of requests in the simulated world: who may send how much, and what a client can make the
// server hold; handlers that throw.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/wire/http/http_body_budget.h"
#include "neptune/wire/http/http_router.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/wire/http/http_test_client.h"
#include "neptune/wire/http/problem.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint16_t kPort = 80;
constexpr size_t kKiB = 1024;
constexpr size_t kLargeBody = 600 * kKiB;

std::string PostHead(std::string_view path, size_t size, std::string_view headers = "") {
  return StrCat("POST ", path, " HTTP/1.1\r\nHost: x\r\nContent-Length: ", size, "\r\n", headers,
                "\r\n");
}

class HttpBodiesTest : public testing::Test {
 protected:
  HttpBodiesTest() {
    for (const char* const name : {"server", "client", "other"}) {
      simulator_.AddHost({.name = name});
    }
    server_loop_ = *simulator_.host("server").StartLoop({.name = "loop"});
    second_loop_ = *simulator_.host("server").StartLoop({.name = "second"});
    router_.Add("GET", "/healthz",
                [](const HttpRequest&) { return HttpResponse::Text(200, "ok"); });
    router_.Add("POST", "/large",
                [this](const HttpRequest& request) {
                  ++handled_count_;
                  return HttpResponse::Text(200, StrCat(request.body.size()));
                },
                {.body_size_max = kLargeBody, .check = [this](const HttpRequest& head) {
                   ++check_count_;
                   if (head.headers.Has("Throw")) throw std::runtime_error("a check");
                   return head.headers.Get("Authorization") == "yes"
                              ? std::nullopt
                              : std::optional(ProblemResponse(401, "", "no token"));
                 }});
    router_.Add("GET", "/throw",
                [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("secret"); });
    router_.Add("GET", "/throw/else", [](const HttpRequest&) -> HttpResponse { throw 7; });
    router_.Add("GET", "/wait", [](const HttpRequest&) {
      this_thread::SleepFor(milliseconds(50));
      return HttpResponse::Text(200, "waited");
    });
  }
  ~HttpBodiesTest() override {
    clients_.clear();
    servers_.clear();
    for (auto& threads : threads_) threads->Stop();
    simulator_.RunFor(seconds(100));
    for (auto& threads : threads_) EXPECT_EQ(threads->live_count(), 0u);
  }

  // Starts a server on the loop, at the n-th port from kPort.
  void Start(HttpServerOptions options = {}, Loop* loop = nullptr) {
    if (loop == nullptr) loop = server_loop_;
    if (servers_.empty()) metrics_ = *HttpServerMetrics::Make(registry_, "test");
    options.metrics = &metrics_;
    options.at_header = [this](HttpRequest* head) { return router_.AtHeader(head); };
    loop->Post([this, options, loop] {
      threads_.push_back(std::make_unique<ThreadScheduler>(*loop, ThreadSchedulerOptions()));
      servers_.push_back(std::make_unique<HttpServer>(
          simulator_.host("server"), *threads_.back(), options,
          [this](const HttpRequest& request) { return router_.Handle(request); }));
      const auto port = static_cast<uint16_t>(kPort + servers_.size() - 1);
      ASSERT_TRUE(servers_.back()->Listen({0, port}).ok());
    });
    RunFor(milliseconds(1));
  }

  HttpTestClient& Connect(const std::string& host = "client", uint16_t port = kPort) {
    if (loops_[host] == nullptr) loops_[host] = *simulator_.host(host).StartLoop({.name = "loop"});
    clients_.push_back(std::make_unique<HttpTestClient>(*loops_[host]));
    clients_.back()->Connect({simulator_.host("server").address(), port});
    RunFor(milliseconds(2));
    return *clients_.back();
  }
  void RunFor(Duration duration) { simulator_.RunFor(duration); }
  double Metric(std::string_view name, MetricLabels labels = {}) {
    labels.insert(labels.begin(), {"server", "test"});
    return registry_.Value(StrCat("neptune_http_", name), labels).value();
  }
  double Refused(const char* reason) {
    return Metric("bodies_refused_total", {{"reason", reason}});
  }

  MetricsRegistry registry_;
  HttpServerMetrics metrics_;
  Simulator simulator_{20240607};
  Loop* server_loop_;
  Loop* second_loop_;
  std::map<std::string, Loop*> loops_;
  HttpRouter router_;
  std::vector<std::unique_ptr<ThreadScheduler>> threads_;
  std::vector<std::unique_ptr<HttpServer>> servers_;
  std::vector<std::unique_ptr<HttpTestClient>> clients_;
  int handled_count_ = 0;
  int check_count_ = 0;
};

TEST_F(HttpBodiesTest, ClientsThatPostWhereNoBodyIsTakenAndStopCostNothing) {
  Start({.reader = {.body_size_max = 16 << 20}});
  for (int i = 0; i < 120; ++i) {
    HttpTestClient& client = Connect();
    client.SendBytes(PostHead("/healthz", 15 << 20));
    client.SendBytes(std::string(100 * kKiB, 'x'));
  }
  RunFor(milliseconds(100));
  for (const auto& client : clients_) {
    ASSERT_EQ(client->responses().size(), 1u);
    EXPECT_EQ(client->responses()[0].status, 413);
    EXPECT_NE(client->responses()[0].body.find("larger than 4096 bytes"), std::string::npos);
  }
  EXPECT_EQ(Metric("body_bytes"), 0);
  EXPECT_EQ(Refused("size"), 120);
  RunFor(seconds(1));
  EXPECT_EQ(servers_[0]->connection_count(), 0u);
}

TEST_F(HttpBodiesTest, ARouteTakesWhatItSaysAndIsCheckedOnce) {
  Start();
  HttpTestClient& client = Connect();
  client.Send("POST", "/large", {{"Authorization", "yes"}}, std::string(kLargeBody, 'x'));
  RunFor(seconds(2));
  EXPECT_EQ(client.Summary(), StrCat("200 ", kLargeBody, ";"));
  EXPECT_EQ(check_count_, 1);
  client.Send("POST", "/large", {{"Authorization", "yes"}});
  RunFor(milliseconds(10));
  EXPECT_EQ(client.responses().size(), 2u) << "without a body";
  EXPECT_EQ(check_count_, 2);
  EXPECT_EQ(Metric("body_bytes"), 0);
  client.Send("POST", "/large", {{"Authorization", "yes"}}, std::string(kLargeBody + 1, 'x'));
  RunFor(seconds(2));
  EXPECT_EQ(client.responses().at(2).status, 413);
  EXPECT_EQ(handled_count_, 2);
}

TEST_F(HttpBodiesTest, AChunkedBodyIsRefusedWhenItPassesTheLimit) {
  Start();
  HttpTestClient& client = Connect();
  client.SendBytes(
      "POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "1000\r\n");
  client.SendBytes(std::string(0x1000, 'x'));
  RunFor(milliseconds(10));
  EXPECT_TRUE(client.responses().empty()) << "4 KiB are within the limit";
  client.SendBytes("\r\n1\r\n");
  RunFor(milliseconds(10));
  EXPECT_EQ(client.responses().at(0).status, 413);
}

TEST_F(HttpBodiesTest, TheApplicationRefusesAtTheHeader) {
  Start();
  HttpTestClient& client = Connect();
  client.SendBytes(PostHead("/large", 1000, "Expect: 100-continue\r\n"));
  RunFor(milliseconds(10));
  ASSERT_EQ(client.responses().size(), 1u);
  EXPECT_EQ(client.responses()[0].status, 401) << "no interim response, no byte of the body";
  HttpTestClient& without = Connect();
  without.Send("POST", "/large");
  RunFor(milliseconds(10));
  EXPECT_EQ(without.responses().at(0).status, 401)
      << "there is no body, so the handler's thread asks";
  EXPECT_FALSE(without.closed());
  EXPECT_EQ(handled_count_, 0);
  EXPECT_EQ(Refused("check"), 1);
  EXPECT_EQ(Metric("read_errors_total"), 0);
  RunFor(seconds(1));
  EXPECT_TRUE(client.closed());
}

// The limits of one address hold for what it has not finished; another one is served meanwhile.
TEST_F(HttpBodiesTest, TheGreediestAddressIsRefusedFirst) {
  Start({.body_bytes_max = 1 << 20});
  for (int i = 0; i < 2; ++i) {
    HttpTestClient& greedy = Connect();
    greedy.SendBytes(PostHead("/large", kLargeBody, "Authorization: yes\r\n"));
    greedy.SendBytes(std::string(450 * kKiB, 'x'));
    RunFor(milliseconds(500));
  }
  EXPECT_GE(Metric("body_bytes"), 900.0 * kKiB);
  HttpTestClient& honest = Connect("other");
  honest.Send("POST", "/large", {{"Authorization", "yes"}}, std::string(300 * kKiB, 'x'));
  RunFor(milliseconds(500));
  EXPECT_EQ(honest.Summary(), StrCat("200 ", 300 * kKiB, ";"));
  EXPECT_TRUE(clients_[0]->responses().empty());
  ASSERT_EQ(clients_[1]->responses().size(), 1u) << "the newest of the address";
  EXPECT_EQ(clients_[1]->responses()[0].status, 503);
  EXPECT_EQ(clients_[1]->responses()[0].headers.Get("Retry-After"), "1");
  EXPECT_EQ(Refused("budget"), 1);
  HttpTestClient& third = Connect();
  third.SendBytes(PostHead("/large", kLargeBody, "Authorization: yes\r\n"));
  third.SendBytes(std::string(590 * kKiB, 'x'));
  RunFor(milliseconds(500));
  ASSERT_EQ(third.responses().size(), 1u) << "its address holds most itself";
  EXPECT_EQ(third.responses()[0].status, 503);
  EXPECT_LE(Metric("body_bytes"), 1 << 20);
  clients_.clear();
  RunFor(seconds(1));
  EXPECT_EQ(Metric("body_bytes"), 0);
}

TEST_F(HttpBodiesTest, TheServersOfAllLoopsShareABudget) {
  HttpServerOptions options;
  options.bodies = std::make_shared<HttpBodyBudget>(1 << 20);
  Start(options);
  Start(options, second_loop_);
  HttpTestClient& greedy = Connect("client", kPort);
  greedy.SendBytes(PostHead("/large", kLargeBody, "Authorization: yes\r\n"));
  greedy.SendBytes(std::string(590 * kKiB, 'x'));
  RunFor(milliseconds(500));
  HttpTestClient& honest = Connect("other", kPort + 1);
  honest.Send("POST", "/large", {{"Authorization", "yes"}}, std::string(500 * kKiB, 'x'));
  RunFor(milliseconds(500));
  EXPECT_EQ(honest.Summary(), StrCat("200 ", 500 * kKiB, ";"));
  EXPECT_EQ(greedy.responses().at(0).status, 503) << "a connection of the other loop";
  EXPECT_EQ(options.bodies->used(), 0u);
}

TEST_F(HttpBodiesTest, ABodyThatDripsIsRefused) {
  Start({.body_progress_timeout = seconds(4), .body_progress_size_min = 10 * kKiB});
  HttpTestClient& fast = Connect();
  HttpTestClient& slow = Connect();
  for (HttpTestClient* const client : {&fast, &slow}) {
    client->SendBytes(PostHead("/large", kLargeBody, "Authorization: yes\r\n"));
  }
  for (int i = 0; i < 5; ++i) {
    fast.SendBytes(std::string(4 * kKiB, 'x'));
    slow.SendBytes(std::string(2 * kKiB, 'x'));
    RunFor(milliseconds(1000));
  }
  EXPECT_TRUE(fast.responses().empty());
  EXPECT_EQ(slow.responses().at(0).status, 408);
  EXPECT_EQ(Metric("timeouts_total"), 1);
  fast.SendBytes(std::string(kLargeBody - 20 * kKiB, 'x'));
  RunFor(seconds(2));
  EXPECT_EQ(fast.Summary(), StrCat("200 ", kLargeBody, ";"));
}

TEST_F(HttpBodiesTest, ARefusalAtTheHeaderIsHeldLikeOthers) {
  router_.Add("POST", "/rate", [](const HttpRequest&) { return HttpResponse(); },
              {.check = [](const HttpRequest&) {
                return std::optional(ProblemResponse(ResourceExhausted("too often")));
              }});
  Start();
  for (int i = 0; i < 3; ++i) {
    HttpTestClient& client = Connect();
    client.SendBytes(PostHead("/rate", 3) + "abc");
    RunFor(milliseconds(10));
    EXPECT_EQ(client.responses().size(), i == 0 ? 1u : 0u) << i;
  }
  RunFor(milliseconds(1100));
  for (const auto& client : clients_) EXPECT_EQ(client->responses().at(0).status, 503);
  EXPECT_EQ(Metric("refusals_held_total"), 2);
}

TEST_F(HttpBodiesTest, AHandlerThatThrowsIsAnswered500AndItsConnectionEnds) {
  Start();
  for (const char* const path : {"/throw", "/throw/else"}) {
    HttpTestClient& client = Connect();
    client.Get("/wait");
    client.Get(path);
    client.Get("/wait");
    RunFor(milliseconds(200));
    ASSERT_EQ(client.responses().size(), 2u) << path;
    EXPECT_EQ(client.responses()[0].status, 200);
    EXPECT_EQ(client.responses()[1].status, 500);
    EXPECT_EQ(client.responses()[1].headers.Get("Content-Type"),
              "application/problem+json; charset=utf-8");
    EXPECT_EQ(client.responses()[1].headers.Get("Connection"), "close");
    EXPECT_EQ(client.responses()[1].body.find("secret"), std::string::npos);
    RunFor(seconds(1));
    EXPECT_TRUE(client.closed());
  }
  EXPECT_EQ(Metric("handler_failures_total"), 2);
  HttpTestClient& next = Connect();
  next.Get("/healthz");
  RunFor(milliseconds(10));
  EXPECT_EQ(next.Summary(), "200 ok;");
}

TEST_F(HttpBodiesTest, ACheckThatThrowsIsAnswered500) {
  Start();
  HttpTestClient& client = Connect();
  client.SendBytes(PostHead("/large", 3, "Throw: yes\r\n"));
  RunFor(milliseconds(10));
  EXPECT_EQ(client.responses().at(0).status, 500);
  EXPECT_EQ(Metric("handler_failures_total"), 1);
  EXPECT_EQ(handled_count_, 0);
}

}  // namespace
}  // namespace neptune
