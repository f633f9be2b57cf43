// The server in the simulated world: order, limits, timeouts, backpressure, drain.

#include "neptune/wire/http/http_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/memory_budget.h"
#include "neptune/base/strings.h"
#include "neptune/wire/connection_slots.h"
#include "neptune/wire/http/http_test_client.h"
#include "neptune/wire/http/problem.h"
#include "neptune/wire/incoming_call.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint16_t kPort = 80;

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    server_loop_ = *simulator_.AddHost({.name = "server"}).StartLoop({.name = "loop"});
    client_loop_ = *simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"});
  }
  ~HttpServerTest() override {
    clients_.clear();
    server_.reset();
    if (threads_ != nullptr) {
      threads_->Stop();
      simulator_.RunFor(seconds(100));
      EXPECT_EQ(threads_->live_count(), 0u);
    }
  }

  // Starts a server whose handler is Handle below.
  void Start(HttpServerOptions options = {}) {
    metrics_ = *HttpServerMetrics::Make(registry_, "test");
    options.metrics = &metrics_;
    server_loop_->Post([this, options] {
      threads_ = std::make_unique<ThreadScheduler>(*server_loop_, thread_options_);
      server_ = std::make_unique<HttpServer>(
          simulator_.host("server"), *threads_, options,
          [this](const HttpRequest& request) { return Handle(request); });
      ASSERT_TRUE(server_->Listen({0, kPort}).ok());
    });
    simulator_.RunFor(milliseconds(1));
  }

  HttpResponse Handle(const HttpRequest& request) {
    active_max_ = std::max(active_max_, ++active_);
    StrAppend(&begun_, request.method, " ", request.path, ";");
    // "/wait/30" waits 30 ms, "/large/9" answers 9 MB, everything else at once.
    if (request.path.starts_with("/wait/")) {
      const CancelAction note(request.call.get(), [this] { ++cancel_count_; });
      this_thread::SleepFor(milliseconds(std::stoi(request.path.substr(6))));
      if (request.ClientGone()) ++gone_count_;
    }
    --active_;
    if (request.path == "/refuse" || request.path == "/readyz") {
      ++refused_count_;
      return ProblemResponse(ResourceExhausted("busy"));
    }
    if (request.path.starts_with("/large/")) {
      return HttpResponse::Text(200, std::string(std::stoul(request.path.substr(7)) << 20, 'x'));
    }
    return HttpResponse::Text(200, StrCat(request.path, request.body));
  }

  HttpTestClient& Connect() {
    clients_.push_back(std::make_unique<HttpTestClient>(*client_loop_));
    clients_.back()->Connect({simulator_.host("server").address(), kPort});
    simulator_.RunFor(milliseconds(2));
    EXPECT_TRUE(clients_.back()->connected());
    return *clients_.back();
  }
  void RunFor(Duration duration) { simulator_.RunFor(duration); }
  double Metric(std::string_view name) {
    return registry_.Value(StrCat("neptune_http_", name), {{"server", "test"}}).value();
  }

  MetricsRegistry registry_;
  HttpServerMetrics metrics_;
  Simulator simulator_{20021115};
  Loop* server_loop_;
  Loop* client_loop_;
  ThreadSchedulerOptions thread_options_;
  std::unique_ptr<ThreadScheduler> threads_;
  std::unique_ptr<HttpServer> server_;
  std::vector<std::unique_ptr<HttpTestClient>> clients_;
  std::string begun_;
  int active_ = 0;
  int active_max_ = 0;
  int refused_count_ = 0;
  int cancel_count_ = 0;  // requests cancelled while their handler waited
  int gone_count_ = 0;    // clients gone when their handler had waited
};

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
  Start();
  HttpTestClient& client = Connect();
  client.Get("/a?x=1");
  RunFor(milliseconds(10));
  client.Send("POST", "/b", {}, "body");
  RunFor(milliseconds(10));
  EXPECT_EQ(client.Summary(), "200 /a;200 /bbody;");
  EXPECT_FALSE(client.closed());
  EXPECT_EQ(client.responses()[0].headers.Get("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(client.responses()[0].headers.Get("Date"), "Wed, 01 Jan 2020 00:00:00 GMT");
  EXPECT_EQ(Metric("connections_total"), 1);
  EXPECT_EQ(Metric("request_duration_seconds"), 2);
}

TEST_F(HttpServerTest, ResponsesLeaveInTheOrderOfTheRequests) {
  Start();
  HttpTestClient& client = Connect();
  for (const char* path : {"/wait/30", "/wait/10", "/wait/20", "/now"}) client.Get(path);
  RunFor(milliseconds(25));
  EXPECT_EQ(active_max_, 4);
  EXPECT_TRUE(client.responses().empty());
  RunFor(milliseconds(10));
  EXPECT_EQ(client.Summary(), "200 /wait/30;200 /wait/10;200 /wait/20;200 /now;");
  EXPECT_EQ(gone_count_, 0);
}

TEST_F(HttpServerTest, AnUnsafeRequestRunsAlone) {
  Start();
  HttpTestClient& client = Connect();
  client.Get("/wait/20");
  client.Send("POST", "/wait/10", {}, "b");
  client.Get("/after");
  RunFor(milliseconds(15));
  EXPECT_EQ(begun_, "GET /wait/20;");
  RunFor(milliseconds(10));
  EXPECT_EQ(begun_, "GET /wait/20;POST /wait/10;");
  RunFor(milliseconds(15));
  EXPECT_EQ(client.Summary(), "200 /wait/20;200 /wait/10b;200 /after;");
  EXPECT_EQ(active_max_, 1);
}

TEST_F(HttpServerTest, RequestsInFlightAreBounded) {
  Start({.in_flight_count_max = 4});
  HttpTestClient& client = Connect();
  for (int i = 0; i < 10; ++i) client.Get("/wait/10");
  RunFor(milliseconds(100));
  EXPECT_EQ(client.responses().size(), 10u);
  EXPECT_EQ(active_max_, 4);
}

TEST_F(HttpServerTest, ManyPipelinedRequestsAreAllAnswered) {
  Start();
  HttpTestClient& client = Connect();
  for (int i = 0; i < 5000; ++i) client.Get("/");
  RunFor(seconds(1));
  EXPECT_EQ(client.responses().size(), 5000u);
}

TEST_F(HttpServerTest, TheClientMayEndTheConnection) {
  Start();
  HttpTestClient& client = Connect();
  client.Send("GET", "/a", {{"Connection", "close"}});
  client.Get("/never");
  RunFor(milliseconds(10));
  EXPECT_EQ(client.Summary(), "200 /a;");
  EXPECT_EQ(client.responses()[0].headers.Get("Connection"), "close");
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(server_->connection_count(), 0u);
}

TEST_F(HttpServerTest, ErrorsAreProblemsAfterTheAnswersBeforeThem) {
  Start({.reader = {.target_size_max = 100}});
  HttpTestClient& client = Connect();
  client.Get("/wait/10");
  client.SendBytes("NONSENSE\r\n\r\n");
  RunFor(milliseconds(100));
  ASSERT_EQ(client.responses().size(), 2u);
  EXPECT_EQ(client.responses()[1].status, 400);
  EXPECT_EQ(client.responses()[1].headers.Get("Content-Type"),
            "application/problem+json; charset=utf-8");
  EXPECT_FALSE(client.closed());  // lingering
  RunFor(seconds(1));
  EXPECT_TRUE(client.closed());
  HttpTestClient& other = Connect();
  other.Get(StrCat("/", std::string(200, 'x')));
  RunFor(milliseconds(100));
  EXPECT_EQ(other.responses().at(0).status, 414);
  EXPECT_EQ(Metric("read_errors_total"), 2);
}

TEST_F(HttpServerTest, ABodyTooLargeIsRefusedBeforeItIsSent) {
  Start({.reader = {.body_size_max = 1000}});
  HttpTestClient& client = Connect();
  client.SendBytes("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  for (int i = 0; i < 100; ++i) client.SendBytes(std::string(10000, 'b'));
  RunFor(milliseconds(100));
  EXPECT_EQ(client.responses().at(0).status, 413);
  EXPECT_EQ(begun_, "");
}

TEST_F(HttpServerTest, ContinueIsSentWhenTheBodyIsAwaited) {
  Start();
  HttpTestClient& client = Connect();
  client.SendBytes(
      "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  RunFor(milliseconds(10));
  EXPECT_EQ(client.received_size(), std::string_view("HTTP/1.1 100 Continue\r\n\r\n").size());
  client.SendBytes("ok");
  RunFor(milliseconds(10));
  EXPECT_EQ(client.Summary(), "200 /bok;");
}

TEST_F(HttpServerTest, ClientOverTheLimitIsAnswered503) {
  Start({.connection_count_max = 1, .turned_away_count_max = 1});
  HttpTestClient& first = Connect();
  first.Get("/wait/20");
  RunFor(milliseconds(2));
  HttpTestClient& second = Connect();
  HttpTestClient& third = Connect();
  second.Get("/");
  RunFor(milliseconds(20));
  EXPECT_EQ(first.Summary(), "200 /wait/20;");
  EXPECT_EQ(second.responses().at(0).status, 503);
  EXPECT_EQ(second.responses().at(0).headers.Get("Retry-After"), "1");
  EXPECT_TRUE(third.closed());
  RunFor(seconds(1));
  EXPECT_TRUE(second.closed());
  EXPECT_EQ(Metric("connections_turned_away_total"), 2);
}

TEST_F(HttpServerTest, OneAddressDoesNotTakeAllPlaces) {
  Start({.connections_per_address_max = 2});
  HttpTestClient& first = Connect();
  HttpTestClient& second = Connect();
  first.Get("/wait/40");
  second.Get("/wait/50");
  RunFor(milliseconds(2));
  HttpTestClient& third = Connect();
  third.Get("/");
  RunFor(milliseconds(10));
  EXPECT_EQ(third.responses().at(0).status, 503);
  RunFor(seconds(1));
  EXPECT_EQ(second.Summary(), "200 /wait/50;");
  HttpTestClient& fourth = Connect();
  fourth.Get("/");
  RunFor(milliseconds(10));
  EXPECT_EQ(fourth.Summary(), "200 /;");
  EXPECT_TRUE(first.closed()) << "the longest idle one of the address";
  EXPECT_FALSE(second.closed());
}

TEST_F(HttpServerTest, TheLongestIdleConnectionGivesWay) {
  Start({.connection_count_max = 3});
  HttpTestClient& first = Connect();
  HttpTestClient& second = Connect();
  HttpTestClient& third = Connect();
  for (HttpTestClient* client : {&first, &second, &third, &first}) {
    client->Get("/");
    RunFor(milliseconds(10));
  }
  HttpTestClient& fourth = Connect();
  fourth.Get("/");
  RunFor(milliseconds(10));
  EXPECT_TRUE(second.closed());
  EXPECT_FALSE(first.closed());
  EXPECT_FALSE(third.closed());
  EXPECT_EQ(fourth.Summary(), "200 /;");
  EXPECT_EQ(Metric("connections_turned_away_total"), 0);
}

// A wave of new clients finds all places taken by idle ones: each of them is answered, although
// its request comes after many more have connected.
TEST_F(HttpServerTest, ANewConnectionDoesNotTakeThePlaceOfOneThatIsNewToo) {
  Start({.connection_count_max = 20});
  for (int i = 0; i < 20; ++i) Connect().Get("/");
  RunFor(milliseconds(10));
  for (int i = 0; i < 20; ++i) Connect();
  for (size_t i = 20; i < 40; ++i) clients_[i]->Get("/");
  RunFor(milliseconds(10));
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(clients_[i]->closed(), i < 20) << i;
    EXPECT_EQ(clients_[i]->Summary(), "200 /;") << i;
  }
}

TEST_F(HttpServerTest, SlowWritersAndReadersGiveWay) {
  Start({.connection_count_max = 2});
  HttpTestClient& writer = Connect();
  writer.SendBytes("GET / HTTP/1.1\r\nX: ");
  HttpTestClient& reader = Connect();
  reader.SetReading(false);
  reader.Get("/large/8");
  RunFor(milliseconds(500));
  HttpTestClient& early = Connect();
  early.Get("/");
  RunFor(milliseconds(10));
  EXPECT_EQ(early.responses().at(0).status, 503) << "both may still be in time";
  RunFor(milliseconds(1000));
  Connect().Get("/wait/5000");
  RunFor(milliseconds(10));
  EXPECT_TRUE(writer.closed());
  Connect().Get("/wait/5000");
  RunFor(milliseconds(10));
  EXPECT_EQ(server_->connection_count(), 2u);
  EXPECT_EQ(active_, 2);
}

TEST_F(HttpServerTest, AClientThatReturnsAtOnceIsRefusedLater) {
  Start();
  HttpTestClient& client = Connect();
  for (int i = 0; i < 3; ++i) client.Get("/refuse");
  client.Get("/a");
  RunFor(milliseconds(500));
  ASSERT_EQ(client.responses().size(), 1u);
  EXPECT_EQ(client.responses()[0].headers.Get("Retry-After"), "1");
  EXPECT_LE(refused_count_, 2) << "it is not read while a refusal is held";
  RunFor(milliseconds(600));
  EXPECT_EQ(client.responses().size(), 2u);
  EXPECT_EQ(Metric("refusals_held_total"), 2);
  RunFor(milliseconds(1000));
  ASSERT_EQ(client.responses().size(), 4u);
  EXPECT_EQ(client.responses()[3].status, 200);
  RunFor(seconds(3));
  client.Get("/refuse");
  RunFor(milliseconds(10));
  EXPECT_EQ(client.responses().size(), 5u) << "it has waited as it was asked to";
  for (int i = 0; i < 3; ++i) client.Get("/readyz");
  RunFor(milliseconds(10));
  EXPECT_EQ(client.responses().size(), 8u) << "a report on the state does not refuse";
}

// Clients are refused as often as the network allows if no refusal is held.
TEST_F(HttpServerTest, ClientsInAClosedLoopAreRefusedOnceASecond) {
  Start();
  for (int i = 0; i < 64; ++i) {
    HttpTestClient& client = Connect();
    client.set_on_response([&client] { client.Get("/refuse"); });
    client.Get("/refuse");
  }
  RunFor(seconds(10));
  EXPECT_LE(refused_count_, 64 * 12);
  EXPECT_GE(refused_count_, 64 * 9);
  bool drained = false;
  server_loop_->Post(
      [&] { server_->Drain(server_loop_->Now() + seconds(10), [&] { drained = true; }); });
  RunFor(milliseconds(700));
  EXPECT_TRUE(drained) << "none is held any longer";
}

TEST_F(HttpServerTest, WhileMemoryIsShortTheSlowestClientIsClosed) {
  HttpServerOptions options;
  options.memory = std::make_shared<MemoryBudget>(1 << 20);
  Start(options);
  for (int i = 0; i < 100; ++i) {
    Connect().SendBytes(StrCat("GET / HTTP/1.1\r\nX: ", std::string(14'000, 'x')));
  }
  RunFor(milliseconds(100));
  EXPECT_LE(options.memory->used(), options.memory->size());
  const size_t refused =
      static_cast<size_t>(std::count_if(clients_.begin(), clients_.end(), [](const auto& client) {
        return !client->responses().empty();
      }));
  EXPECT_GE(refused, 80u) << "the loop's share is a quarter of what is free";
  EXPECT_LE(refused, 90u);
  RunFor(seconds(2));
  for (int i = 0; i < 5; ++i) {
    Connect().SendBytes(StrCat("GET / HTTP/1.1\r\nX: ", std::string(14'000, 'x')));
  }
  RunFor(milliseconds(10));
  EXPECT_TRUE(clients_[0]->closed()) << "it is the slowest";
  clients_.clear();
  RunFor(seconds(1));
  EXPECT_EQ(options.memory->used(), 0u);
}

TEST_F(HttpServerTest, ManyIdleConnectionsEndInTimeAndNewOnesAreServed) {
  Start({.connection_count_max = 3000,
         .connections_per_address_max = 3000,
         .idle_timeout = seconds(60)});
  for (int i = 0; i < 3000; ++i) {
    clients_.push_back(std::make_unique<HttpTestClient>(*client_loop_));
    clients_.back()->Connect({simulator_.host("server").address(), kPort});
  }
  RunFor(seconds(30));
  EXPECT_EQ(server_->connection_count(), 3000u);
  for (int i = 0; i < 500; ++i) Connect().Get("/");
  RunFor(milliseconds(100));
  for (size_t i = 3000; i < 3500; ++i) EXPECT_EQ(clients_[i]->Summary(), "200 /;") << i;
  EXPECT_EQ(server_->connection_count(), 3000u);
  RunFor(seconds(31));
  EXPECT_EQ(server_->connection_count(), 500u);
  RunFor(seconds(30));
  EXPECT_EQ(server_->connection_count(), 0u);
}

TEST_F(HttpServerTest, WithoutAThreadTheAnswerIs503) {
  thread_options_.thread_count_max = 1;
  Start();
  HttpTestClient& client = Connect();
  client.Get("/wait/10");
  client.Get("/");
  RunFor(milliseconds(50));
  ASSERT_EQ(client.responses().size(), 2u);
  EXPECT_EQ(client.responses()[1].status, 503);
}

TEST_F(HttpServerTest, ASlowHeaderTimesOutHoweverItDrips) {
  Start({.header_timeout = seconds(5)});
  HttpTestClient& client = Connect();
  client.SendBytes("GET / HTTP/1.1\r\nX: ");
  for (int i = 0; i < 4; ++i) {
    RunFor(seconds(1));
    client.SendBytes("x");
    EXPECT_TRUE(client.responses().empty());
  }
  RunFor(milliseconds(1100));
  EXPECT_EQ(client.responses().at(0).status, 408);
  RunFor(seconds(1));
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(Metric("timeouts_total"), 1);
}

TEST_F(HttpServerTest, ASlowBodyTimesOut) {
  Start({.header_timeout = seconds(5), .body_timeout = seconds(7)});
  HttpTestClient& client = Connect();
  client.SendBytes("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
  RunFor(milliseconds(6900));
  EXPECT_TRUE(client.responses().empty());
  RunFor(milliseconds(200));
  EXPECT_EQ(client.responses().at(0).status, 408);
}

TEST_F(HttpServerTest, AnIdleConnectionIsClosedAndABusyOneIsNot) {
  Start({.idle_timeout = seconds(10)});
  HttpTestClient& client = Connect();
  HttpTestClient& busy = Connect();
  busy.Get("/wait/30000");
  for (int i = 0; i < 3; ++i) {
    RunFor(seconds(8));
    client.Get("/");
  }
  EXPECT_FALSE(client.closed());
  RunFor(seconds(11));
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(busy.responses().size(), 1u);
  EXPECT_FALSE(busy.closed());
}

TEST_F(HttpServerTest, AClientThatDoesNotReadIsNotReadEither) {
  Start({.in_flight_count_max = 1, .unsent_size_max = 1 << 20, .write_timeout = seconds(20)});
  HttpTestClient& client = Connect();
  client.SetReading(false);
  for (int i = 0; i < 50; ++i) client.Get("/large/1");
  RunFor(seconds(10));
  const std::string begun = begun_;
  EXPECT_LT(begun.size(), 5 * std::string_view("GET /large/1;").size());
  client.SetReading(true);
  RunFor(seconds(10));
  EXPECT_EQ(client.responses().size(), 50u);
}

// One that takes a little now and then holds its place no longer than one that takes nothing.
TEST_F(HttpServerTest, AClientThatReadsInDropsIsClosed) {
  Start({.write_timeout = seconds(20), .write_size_min = 6 << 20});
  HttpTestClient& client = Connect();
  client.SetReading(false);
  client.Get("/large/8");
  // What the network holds for a client that does not read: its window and the piece that fills it.
  constexpr size_t kDropSizeMax = (size_t{1} << 20) + (size_t{64} << 10);
  for (int i = 0; i < 10; ++i) {
    RunFor(seconds(5));
    const size_t before = client.received_size();
    client.SetReading(true);
    for (int step = 0; step < 100 && client.received_size() == before; ++step) {
      RunFor(std::chrono::microseconds(10));
    }
    client.SetReading(false);
    ASSERT_LE(client.received_size() - before, kDropSizeMax) << "no drop";
  }
  EXPECT_GT(client.received_size(), 0u);
  EXPECT_EQ(server_->connection_count(), 0u);
  EXPECT_EQ(Metric("timeouts_total"), 1);
}

TEST_F(HttpServerTest, AClientThatNeverReadsIsClosed) {
  Start({.write_timeout = seconds(20)});
  HttpTestClient& client = Connect();
  client.SetReading(false);
  client.Get("/large/8");
  RunFor(seconds(19));
  EXPECT_EQ(server_->connection_count(), 1u);
  RunFor(seconds(22));
  EXPECT_EQ(server_->connection_count(), 0u);
  EXPECT_EQ(Metric("timeouts_total"), 1);
}

TEST_F(HttpServerTest, TheLastAnswerLeavesWholeBeforeTheEnd) {
  Start();
  HttpTestClient& client = Connect();
  client.Send("GET", "/large/8", {{"Connection", "close"}});
  RunFor(seconds(5));
  EXPECT_EQ(client.responses().at(0).body.size(), 8u << 20);
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpServerTest, HandlersSeeThatTheirClientLeft) {
  Start();
  HttpTestClient& client = Connect();
  HttpTestClient& other = Connect();
  client.Get("/wait/50");
  other.Send("GET", "/wait/50", {{"Connection", "close"}});
  RunFor(milliseconds(10));
  client.Close();
  other.Close();
  RunFor(milliseconds(10));
  EXPECT_EQ(active_, 2);
  RunFor(milliseconds(100));
  EXPECT_EQ(active_, 0);
  EXPECT_EQ(gone_count_, 2);
  EXPECT_EQ(server_->connection_count(), 0u);
}

TEST_F(HttpServerTest, WhatAClientAskedForIsCancelledWhenItLeaves) {
  Start();
  HttpTestClient& client = Connect();
  HttpTestClient& patient = Connect();
  for (const char* path : {"/wait/1", "/wait/5000", "/wait/6000"}) client.Get(path);
  patient.Get("/wait/5000");
  RunFor(milliseconds(10));
  EXPECT_EQ(cancel_count_, 0);
  client.Close();
  RunFor(milliseconds(2));
  EXPECT_EQ(cancel_count_, 2);
  RunFor(seconds(10));
  EXPECT_EQ(cancel_count_, 2);
  EXPECT_EQ(patient.Summary(), "200 /wait/5000;");
}

TEST_F(HttpServerTest, TheEndOfDrainingCancelsWhatIsInProgress) {
  Start();
  Connect().Get("/wait/5000");
  RunFor(milliseconds(10));
  server_loop_->Post([&] { server_->Drain(server_loop_->Now() + seconds(1), [] {}); });
  RunFor(milliseconds(900));
  EXPECT_EQ(cancel_count_, 0);
  RunFor(milliseconds(200));
  EXPECT_EQ(cancel_count_, 1);
}

TEST_F(HttpServerTest, DrainEndsIdleConnectionsAndFinishesTheOthers) {
  Start();
  HttpTestClient& idle = Connect();
  HttpTestClient& busy = Connect();
  busy.Get("/wait/100");
  RunFor(milliseconds(10));
  bool drained = false;
  server_loop_->Post(
      [&] { server_->Drain(server_loop_->Now() + seconds(10), [&] { drained = true; }); });
  RunFor(milliseconds(10));
  EXPECT_TRUE(idle.closed());
  EXPECT_FALSE(drained);
  RunFor(milliseconds(100));
  EXPECT_EQ(busy.Summary(), "200 /wait/100;");
  EXPECT_EQ(busy.responses()[0].headers.Get("Connection"), "close");
  RunFor(seconds(1));
  EXPECT_TRUE(drained);
}

TEST_F(HttpServerTest, DrainClosesAtTheDeadlineAndWaitsForHandlers) {
  Start();
  HttpTestClient& client = Connect();
  client.Get("/wait/3000");
  RunFor(milliseconds(10));
  bool drained = false;
  server_loop_->Post(
      [&] { server_->Drain(server_loop_->Now() + seconds(1), [&] { drained = true; }); });
  RunFor(milliseconds(1100));
  EXPECT_TRUE(client.closed());
  EXPECT_FALSE(drained);
  RunFor(seconds(3));
  EXPECT_TRUE(drained);
}

TEST_F(HttpServerTest, AServerMayGoWhileItsHandlersRun) {
  Start();
  HttpTestClient& client = Connect();
  client.Get("/wait/50");
  RunFor(milliseconds(10));
  server_loop_->Post([&] { server_.reset(); });
  RunFor(milliseconds(100));
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(active_, 0);
}

TEST_F(HttpServerTest, RandomPiecesAndDelaysChangeNothing) {
  Start();
  std::string expected;
  HttpTestClient& client = Connect();
  std::string bytes;
  for (int i = 0; i < 200; ++i) {
    const bool post = simulator_.random().Below(4) == 0;
    const std::string path = StrCat("/wait/", simulator_.random().Below(5));
    StrAppend(&bytes, post ? "POST " : "GET ", path, " HTTP/1.1\r\nHost: x\r\n",
              post ? "Content-Length: 3\r\n\r\nabc" : "\r\n");
    StrAppend(&expected, "200 ", path, post ? "abc" : "", ";");
  }
  while (!bytes.empty()) {
    const size_t size = std::min<size_t>(bytes.size(), 1 + simulator_.random().Below(200));
    client.SendBytes(std::string_view(bytes).substr(0, size));
    bytes.erase(0, size);
    RunFor(milliseconds(simulator_.random().Below(3)));
  }
  RunFor(seconds(2));
  EXPECT_EQ(client.Summary(), expected);
}

TEST_F(HttpServerTest, ResponseThatFindsNoMemoryIsAnsweredUnavailable) {
  HttpServerOptions options;
  options.memory = std::make_shared<MemoryBudget>(32 << 20);
  Start(options);
  HttpTestClient& client = Connect();
  client.Get("/large/6");
  client.Get("/large/9");
  client.Get("/small");
  RunFor(seconds(5));
  ASSERT_EQ(client.responses().size(), 3u);
  EXPECT_EQ(client.responses()[0].status, 200);
  EXPECT_EQ(client.responses()[1].status, 503) << "over a quarter of the budget";
  EXPECT_EQ(client.responses()[2].status, 200);
  EXPECT_EQ(options.memory->refusals(MemoryUse::kHttp), 1u);
  clients_.clear();
  RunFor(seconds(1));
  EXPECT_EQ(options.memory->used(), 0u);
}

TEST_F(HttpServerTest, BodyThatFindsNoMemoryIsAnsweredUnavailableBeforeItHasArrived) {
  HttpServerOptions options;
  options.memory = std::make_shared<MemoryBudget>(4 << 20);
  Start(options);
  HttpTestClient& client = Connect();
  client.Send("POST", "/a", {}, std::string(100'000, 'x'));
  RunFor(seconds(1));
  EXPECT_EQ(client.responses().at(0).status, 200);
  EXPECT_EQ(options.memory->used(), 0u);
  client.Send("POST", "/b", {}, std::string(1'000'000, 'x'));
  RunFor(seconds(2));
  ASSERT_EQ(client.responses().size(), 2u);
  EXPECT_EQ(client.responses()[1].status, 503);
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(begun_, "POST /a;");
  EXPECT_EQ(options.memory->used(), 0u);
}

TEST_F(HttpServerTest, ConnectionBetweenRequestsGivesItsPlaceToANewOne) {
  HttpServerOptions options;
  options.slots = std::make_shared<ConnectionSlots>(2);
  Start(options);
  HttpTestClient& idle = Connect();
  idle.Get("/a");
  RunFor(milliseconds(10));
  HttpTestClient& busy = Connect();
  busy.Get("/wait/1000");
  RunFor(milliseconds(10));
  HttpTestClient& fresh = Connect();
  fresh.Get("/wait/1000");
  RunFor(milliseconds(10));
  EXPECT_TRUE(idle.closed());
  HttpTestClient& refused = Connect();
  RunFor(milliseconds(10));
  EXPECT_TRUE(refused.closed()) << "all others are at work";
  RunFor(seconds(2));
  EXPECT_EQ(busy.Summary(), "200 /wait/1000;");
  EXPECT_EQ(fresh.Summary(), "200 /wait/1000;");
  EXPECT_EQ(options.slots->evicted_count(), 1u);
  EXPECT_EQ(options.slots->refused_count(), 1u);
}

}  // namespace
}  // namespace neptune
