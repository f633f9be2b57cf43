// An HTTP server before an admission gate, in virtual time: what clients in closed loops, idle
// ones and those that leave early get from a service that serves eight requests at once.

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/service/admission_gate.h"
#include "neptune/service/request_context.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/wire/http/http_test_client.h"
#include "neptune/wire/http/problem.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kPlaceCount = 8;
constexpr Duration kServiceTime = milliseconds(5);
constexpr double kCapacity = 1600;  // requests a second
constexpr uint64_t kSeed = 26;

class FrontDoorTest : public testing::Test {
 protected:
  FrontDoorTest() {
    loop_ = *simulator_.AddHost({.name = "server"}).StartLoop({.name = "loop"});
    client_loop_ = *simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"});
    loop_->Post([this] {
      threads_ = std::make_unique<ThreadScheduler>(*loop_);
      server_ = std::make_unique<HttpServer>(
          simulator_.host("server"), *threads_,
          HttpServerOptions{.connections_per_address_max = HttpServer::kPlaceCountMax},
          [this](const HttpRequest& request) { return Serve(request); });
      ASSERT_TRUE(server_->Listen({0, kPort}).ok());
    });
    simulator_.RunFor(milliseconds(1));
  }
  ~FrontDoorTest() override {
    clients_.clear();
    loop_->Post([this] {
      server_.reset();
      threads_->Stop();
    });
    simulator_.RunFor(seconds(10));
    loop_->Post([this] { threads_.reset(); });
    simulator_.RunFor(seconds(1));
  }

  HttpResponse Serve(const HttpRequest& request) {
    auto pass = gate_.Admit({.arrived = request.received,
                             .begin_by = request.received + seconds(1),
                             .call = request.call.get()});
    if (!pass.ok()) {
      if (pass.status().code() != StatusCode::kCancelled) ++refused_count_;
      return ProblemResponse(pass.status());
    }
    const RequestContext context({}, request.call, simulator_.host("server"));
    const TimePoint begun = this_thread::Now();
    (void)context.SleepUntil(begun + kServiceTime);
    worked_ += this_thread::Now() - begun;
    return HttpResponse::Text(200, "answer");
  }

  HttpTestClient& Connect() {
    clients_.push_back(std::make_unique<HttpTestClient>(*client_loop_));
    clients_.back()->Connect({simulator_.host("server").address(), kPort});
    return *clients_.back();
  }
  // Clients that ask again as soon as they are answered, for `time`; returns the answers a second.
  double RunClosedLoop(size_t count, Duration time) {
    auto answered = std::make_shared<size_t>(0);
    for (size_t i = 0; i < count; ++i) {
      HttpTestClient& client = Connect();
      client.set_on_response([&client, answered] {
        if (client.responses().back().status == 200) ++*answered;
        client.ForgetResponses();
        client.Get("/");
      });
      client.Get("/");
    }
    simulator_.RunFor(seconds(1));
    *answered = 0;
    simulator_.RunFor(time);
    return static_cast<double>(*answered) / ToSeconds(time);
  }

  static constexpr uint16_t kPort = 80;
  Simulator simulator_{kSeed};
  testing::ScopedTrace trace_{__FILE__, __LINE__, StrCat("seed ", kSeed)};
  Loop* loop_ = nullptr;
  Loop* client_loop_ = nullptr;
  AdmissionGate gate_{{.limit = {.initial = kPlaceCount, .min = kPlaceCount, .max = kPlaceCount}}};
  std::unique_ptr<ThreadScheduler> threads_;
  std::unique_ptr<HttpServer> server_;
  std::vector<std::unique_ptr<HttpTestClient>> clients_;
  size_t refused_count_ = 0;
  Duration worked_{0};
};

TEST_F(FrontDoorTest, SixtyFourClientsAreServedAtTheCapacity) {
  EXPECT_GT(RunClosedLoop(64, seconds(3)), .95 * kCapacity);
  EXPECT_EQ(refused_count_, 0u);
}

TEST_F(FrontDoorTest, FiveHundredClientsAreServedAtTheCapacity) {
  EXPECT_GT(RunClosedLoop(512, seconds(3)), .95 * kCapacity);
  EXPECT_EQ(refused_count_, 0u);
}

TEST_F(FrontDoorTest, ThousandsOfIdleConnectionsChangeNothing) {
  for (int i = 0; i < 5000; ++i) Connect();
  simulator_.RunFor(seconds(5));
  ASSERT_EQ(server_->connection_count(), 5000u);
  EXPECT_GT(RunClosedLoop(64, seconds(2)), .95 * kCapacity);
  EXPECT_EQ(refused_count_, 0u);
  EXPECT_EQ(server_->connection_count(), 5064u);
}

// More clients than could be served within the limit of the wait: they are refused once a second
// each, and the others are served.
TEST_F(FrontDoorTest, ClientsBeyondTheWaitAreRefusedSeldom) {
  constexpr size_t kCount = 3000;
  EXPECT_GT(RunClosedLoop(kCount, seconds(3)), .95 * kCapacity);
  EXPECT_GT(refused_count_, 0u);
  EXPECT_LT(refused_count_, kCount * 4);
}

TEST_F(FrontDoorTest, ClientsThatLeaveEarlyDoNotWasteTheCapacity) {
  const Duration patience = milliseconds(50);
  const Duration gap = FromSeconds(1 / (2 * kCapacity));
  const Duration time = seconds(2);
  size_t answered = 0;
  std::function<void()> next = [&] {
    HttpTestClient& client = Connect();
    client.set_on_response([&] { ++answered; });
    client.Get("/");
    client_loop_->RunAt(client_loop_->Now() + patience, [&client] { client.Close(); });
    client_loop_->RunAt(client_loop_->Now() + gap, [&] { next(); });
  };
  client_loop_->Post([&] { next(); });
  simulator_.RunFor(time);
  const double per_second = static_cast<double>(answered) / ToSeconds(time);
  EXPECT_GT(per_second, .85 * kCapacity) << "answered within " << ToMillis(patience) << " ms";
  EXPECT_GT(ToSeconds(worked_) / (ToSeconds(time) * kPlaceCount), .9) << "places at work";
  next = [] {};
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(gate_.waiting(), 0u);
  EXPECT_EQ(gate_.under_way(), 0u);
}

}  // namespace
}  // namespace neptune
