// The short way of the server in the simulated world: the bytes that clients get are those of the
// ordinary way, and its limits hold.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/memory_budget.h"
#include "neptune/base/strings.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/wire/http/http_test_client.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint16_t kPort = 80;

// A response with headers of its own after those that are prepared.
HttpResponse ResponseFor(std::string_view target, bool has_own = true) {
  HttpResponse response = HttpResponse::Text(200, StrCat("body of ", target, "\n"));
  if (const size_t size = target.find("size="); size != target.npos) {
    response.body.resize(std::stoul(std::string(target.substr(size + 5))), 'x');
  }
  response.headers.Add("Cache-Control", "no-cache");
  if (has_own) response.headers.Add("X-Own", target.substr(0, 20));
  return response;
}

// Knows all targets that begin with "/short".
class KnownTargets final : public HttpShortWay {
 public:
  bool Answer(const HttpGlance& request, std::string* out) override {
    if (!request.target.starts_with("/short")) {
      *out += "dropped";
      return false;
    }
    ++answered_count;
    const HttpResponse response = ResponseFor(request.target, /*has_own=*/false);
    const PreparedHttpHead head = PrepareHead(response);
    StrAppend(out, head.begin, "X-Own: ", request.target.substr(0, 20), "\r\n", head.end);
    if (!request.is_head) *out += response.body;
    return true;
  }

  size_t answered_count = 0;
};

// A client that keeps all bytes as they arrive.
class RawClient final : public StreamHandler {
 public:
  explicit RawClient(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {
    stream_->Start(this);
  }
  void Send(std::string bytes) {
    if (!closed_) stream_->Write(std::move(bytes));
  }
  const std::string& received() const { return received_; }
  bool closed() const { return closed_; }

 private:
  void OnData(std::string_view bytes) override { received_ += bytes; }
  void OnClosed(const Status&) override { closed_ = true; }

  const std::unique_ptr<Stream> stream_;
  std::string received_;
  bool closed_ = false;
};

// A server with or without the short way.
class ShortWayServer {
 public:
  explicit ShortWayServer(bool has_short_way, HttpServerOptions options = {})
      : options_(std::move(options)) {
    server_loop_ = *simulator_.AddHost({.name = "server"}).StartLoop({.name = "loop"});
    client_loop_ = *simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"});
    options_.metrics = &metrics_;
    if (has_short_way) options_.short_way = &known_;
    server_loop_->Post([this] {
      threads_ = std::make_unique<ThreadScheduler>(*server_loop_);
      server_ = std::make_unique<HttpServer>(simulator_.host("server"), *threads_, options_,
                                             [this](const HttpRequest& request) {
                                               ++handled_count_;
                                               if (request.path == "/wait") {
                                                 this_thread::SleepFor(milliseconds(2));
                                               }
                                               return ResponseFor(request.target);
                                             });
      ASSERT_TRUE(server_->Listen({0, kPort}).ok());
    });
    RunFor(milliseconds(1));
  }
  ~ShortWayServer() {
    raw_.reset();
    clients_.clear();
    server_.reset();
    threads_->Stop();
    RunFor(seconds(100));
  }

  HttpTestClient& Connect() {
    clients_.push_back(std::make_unique<HttpTestClient>(*client_loop_));
    clients_.back()->Connect({simulator_.host("server").address(), kPort});
    RunFor(milliseconds(2));
    EXPECT_TRUE(clients_.back()->connected());
    return *clients_.back();
  }
  RawClient& ConnectRaw() {
    client_loop_->Post([this] {
      client_loop_->network().Connect({simulator_.host("server").address(), kPort}, kNever,
                                      [this](StatusOr<std::unique_ptr<Stream>> stream) {
                                        raw_ = std::make_unique<RawClient>(*std::move(stream));
                                      });
    });
    RunFor(milliseconds(2));
    return *raw_;
  }
  void RunFor(Duration duration) { simulator_.RunFor(duration); }
  double Metric(std::string_view name, MetricLabels labels = {}) {
    labels.emplace_back("server", "test");
    return registry_.Value(StrCat("neptune_http_", name), labels).value();
  }

  KnownTargets& known() { return known_; }
  HttpServer& server() { return *server_; }
  int handled_count() const { return handled_count_; }

 private:
  MetricsRegistry registry_;
  HttpServerMetrics metrics_ = *HttpServerMetrics::Make(registry_, "test");
  Simulator simulator_{20021115};
  Loop* server_loop_;
  Loop* client_loop_;
  KnownTargets known_;
  HttpServerOptions options_;
  int handled_count_ = 0;
  std::unique_ptr<ThreadScheduler> threads_;
  std::unique_ptr<HttpServer> server_;
  std::vector<std::unique_ptr<HttpTestClient>> clients_;
  std::unique_ptr<RawClient> raw_;
};

// Bytes that a client sends, with a pause after each piece.
using Conversation = std::vector<std::pair<std::string, Duration>>;

std::string OneRequest(std::mt19937_64& random) {
  const std::string target = StrCat("/short?n=", random() % 1000);
  switch (random() % 12) {
    case 0:
      return StrCat("HEAD ", target, " HTTP/1.1\r\nHost: x\r\n\r\n");
    case 1:
      return "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n";
    case 2:
      return "POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
    case 3:
      return StrCat("\r\nGET ", target, " HTTP/1.1\r\nHost: x\r\n\r\n");
    case 4:
      return StrCat("GET ", target, " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    case 5:
      return StrCat("GET ", target, " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab");
    case 6:
      return StrCat("GET ", target, "&size=20000 HTTP/1.1\r\nHost: x\r\n\r\n");
    case 7:
      return "GET /long HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n";
    default:
      return StrCat("GET ", target, " HTTP/1.1\r\nHost: x\r\nAccept: a/b\r\n\r\n");
  }
}

std::string LastRequest(std::mt19937_64& random) {
  switch (random() % 5) {
    case 0:
      return "GET /short HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /short";
    case 1:
      return "GET /short HTTP/1.1\r\nHost: x\r\nBroken\r\n\r\n";
    case 2:
      return "GET /short%zz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n ";
    case 3:
      return "GET /short HTTP/1.1\r\n\r\n";
    default:
      return "";
  }
}

Conversation AnyConversation(uint64_t seed) {
  std::mt19937_64 random(seed);
  const bool is_piecewise = random() % 2 == 0;
  std::string bytes;
  Conversation pieces;
  const auto pause = [&] { return milliseconds(random() % 4); };
  for (size_t left = 1 + random() % 60; left > 0; --left) {
    bytes += OneRequest(random);
    if (!is_piecewise && random() % 3 > 0) pieces.emplace_back(std::exchange(bytes, ""), pause());
  }
  bytes += LastRequest(random);
  while (!bytes.empty()) {
    const size_t size = is_piecewise ? 1 + random() % 300 : bytes.size();
    pieces.emplace_back(bytes.substr(0, size), pause());
    bytes.erase(0, size);
  }
  return pieces;
}

struct Outcome {
  std::string received;
  bool closed = false;
  double answered = 0;
  size_t short_count = 0;
};

Outcome Hold(const Conversation& conversation, bool has_short_way) {
  ShortWayServer server(has_short_way);
  RawClient& client = server.ConnectRaw();
  for (const auto& [bytes, pause] : conversation) {
    client.Send(bytes);
    server.RunFor(pause);
  }
  server.RunFor(milliseconds(700));
  return {client.received(), client.closed(), server.Metric("request_duration_seconds"),
          server.known().answered_count};
}

TEST(HttpShortWayTest, ClientsGetTheSameBytesByBothWays) {
  size_t short_count = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Conversation conversation = AnyConversation(seed);
    const Outcome ordinary = Hold(conversation, /*has_short_way=*/false);
    const Outcome with = Hold(conversation, /*has_short_way=*/true);
    ASSERT_EQ(with.received, ordinary.received) << "seed " << seed;
    EXPECT_EQ(with.closed, ordinary.closed) << "seed " << seed;
    EXPECT_EQ(with.answered, ordinary.answered) << "seed " << seed;
    EXPECT_EQ(ordinary.short_count, 0u);
    short_count += with.short_count;
  }
  EXPECT_GT(short_count, 500u);
}

TEST(HttpShortWayTest, AUsualRequestBecomesNoRequestOfTheHandler) {
  ShortWayServer server(true);
  HttpTestClient& client = server.Connect();
  client.Get("/short");
  client.Get("/other");
  client.Get("/short");
  server.RunFor(milliseconds(10));
  EXPECT_EQ(client.Summary(), "200 body of /short\n;200 body of /other\n;200 body of /short\n;");
  EXPECT_EQ(server.known().answered_count + static_cast<size_t>(server.handled_count()), 3u);
  client.Get("/short");
  server.RunFor(milliseconds(10));
  EXPECT_EQ(server.Metric("short_answers_total"),
            static_cast<double>(server.known().answered_count));
  EXPECT_EQ(server.Metric("responses_total", {{"status", "2xx"}}), 4);
}

TEST(HttpShortWayTest, WhatComesWhileARequestIsInProgressWaitsItsTurn) {
  ShortWayServer server(true);
  HttpTestClient& client = server.Connect();
  client.Get("/wait");
  server.RunFor(milliseconds(1));
  client.Get("/short");
  server.RunFor(milliseconds(10));
  EXPECT_EQ(client.Summary(), "200 body of /wait\n;200 body of /short\n;");
  EXPECT_EQ(server.known().answered_count, 0u);
}

TEST(HttpShortWayTest, AClientThatDoesNotReadIsNotReadEither) {
  ShortWayServer server(true);
  HttpTestClient& client = server.Connect();
  client.SetReading(false);
  for (int i = 0; i < 200; ++i) {
    client.Get("/short?size=65536");
    if (i % 10 == 0) server.RunFor(milliseconds(10));
  }
  server.RunFor(seconds(1));
  EXPECT_LT(server.known().answered_count + static_cast<size_t>(server.handled_count()), 60u);
  client.SetReading(true);
  server.RunFor(seconds(20));
  EXPECT_EQ(client.responses().size(), 200u);
}

TEST(HttpShortWayTest, AClientThatNeverReadsIsClosed) {
  ShortWayServer server(true);
  HttpTestClient& client = server.Connect();
  client.SetReading(false);
  client.Get("/short?size=8000000");
  server.RunFor(seconds(29));
  EXPECT_EQ(server.known().answered_count, 1u);
  EXPECT_EQ(server.server().connection_count(), 1u);
  server.RunFor(seconds(3));
  EXPECT_EQ(server.server().connection_count(), 0u);
  EXPECT_EQ(server.Metric("timeouts_total"), 1);
}

TEST(HttpShortWayTest, AConnectionIsIdleOnceItsClientHasRead) {
  ShortWayServer server(true, {.connection_count_max = 2});
  HttpTestClient& first = server.Connect();
  first.Get("/short");
  server.RunFor(seconds(2));
  HttpTestClient& second = server.Connect();
  second.Get("/short");
  server.RunFor(seconds(2));
  first.Get("/short");
  server.RunFor(seconds(2));
  server.Connect().Get("/short");
  server.RunFor(milliseconds(10));
  EXPECT_FALSE(first.closed());
  EXPECT_TRUE(second.closed()) << "it has been idle for the longest time";
  server.RunFor(std::chrono::minutes(6));
  EXPECT_EQ(server.server().connection_count(), 0u);
}

TEST(HttpShortWayTest, AnAnswerThatFindsNoMemoryIsUnavailable) {
  HttpServerOptions options;
  options.memory = std::make_shared<MemoryBudget>(32 << 20);
  ShortWayServer server(true, options);
  HttpTestClient& client = server.Connect();
  client.Get("/short?size=9000000");
  server.RunFor(seconds(5));
  client.Get("/short");
  server.RunFor(seconds(1));
  ASSERT_EQ(client.responses().size(), 2u);
  EXPECT_EQ(client.responses()[0].status, 503) << "over a quarter of the budget";
  EXPECT_EQ(client.responses()[0].headers.Get("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(client.responses()[1].status, 200);
  EXPECT_EQ(server.Metric("responses_total", {{"status", "5xx"}}), 1);
  EXPECT_EQ(server.Metric("short_answers_total"), 1);
  EXPECT_EQ(options.memory->used(), 0u);
}

TEST(HttpShortWayTest, ADrainingServerTellsItsClientsToLeave) {
  ShortWayServer server(true);
  HttpTestClient& client = server.Connect();
  client.Get("/wait");
  server.RunFor(milliseconds(1));
  server.server().Drain(TimePoint::max(), [] {});
  client.Get("/short");
  server.RunFor(seconds(1));
  EXPECT_EQ(server.known().answered_count, 0u);
  EXPECT_TRUE(client.closed());
}

TEST(HttpShortWayTest, TheDateAdvances) {
  ShortWayServer server(true);
  HttpTestClient& client = server.Connect();
  std::string former;
  for (int i = 0; i < 5; ++i) {
    client.ForgetResponses();
    client.Get("/short");
    server.RunFor(milliseconds(5));
    client.Get("/other");
    server.RunFor(milliseconds(995));
    ASSERT_EQ(client.responses().size(), 2u);
    const std::string date(client.responses()[0].headers.Get("Date"));
    EXPECT_EQ(client.responses()[1].headers.Get("Date"), date);
    EXPECT_NE(date, former);
    former = date;
  }
}

}  // namespace
}  // namespace neptune
