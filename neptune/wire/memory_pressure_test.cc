// Connections whose node has little memory, or few places for connections, over the simulated
// network.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/security/cluster_key.h"
#include "neptune/security/secure_network.h"
#include "neptune/wire/client_connection.h"
#include "neptune/wire/server_connection.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kMiB = size_t{1} << 20;
constexpr char kControlService[] = "control";

struct Answer final : public AnswerSink {
  void OnAnswer(StatusOr<CallAnswer>&& answer) override {
    EXPECT_FALSE(result.has_value()) << "answered twice";
    result = std::move(answer);
  }
  StatusCode code() const {
    if (!result.has_value()) return StatusCode::kUnknown;
    if (!result->ok()) return result->status().code();
    return (*result)->header.status.code();
  }
  std::optional<StatusOr<CallAnswer>> result;
};

// A peer that speaks bytes, and may stop reading them.
struct SilentPeer final : public StreamHandler {
  void OnData(std::string_view bytes) override { received_size += bytes.size(); }
  void OnClosed(const Status&) override { closed = true; }
  std::unique_ptr<Stream> stream;
  size_t received_size = 0;
  bool closed = false;
};

class MemoryPressureTest : public testing::Test {
 protected:
  MemoryPressureTest()
      : server_loop_(*simulator_.AddHost({.name = "server"}).StartLoop({.name = "loop"})),
        client_loop_(*simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"})) {}

  FrameServerOptions Options() const {
    FrameServerOptions options;
    options.memory.budget = budget_;
    options.memory.is_control = [](const RequestHeader& header) {
      return header.service.value() == kControlService;
    };
    return options;
  }

  std::unique_ptr<FrameServer> Serve(const FrameServerOptions& options) {
    auto server =
        std::make_unique<FrameServer>(*server_loop_, options, [this](IncomingRequest request) {
          largest_used_ = std::max(largest_used_, budget_->used());
          if (answer_size_ == 0) return requests_.push_back(std::move(request));
          request.reply.Send({}, std::string(answer_size_, 'a'));
        });
    EXPECT_TRUE(server->Listen({simulator_.host("server").address(), 0}, false).ok());
    return server;
  }

  std::unique_ptr<Stream> OpenStream(const FrameServer& server) {
    std::unique_ptr<Stream> opened;
    client_loop_->network().Connect(
        server.local(), client_loop_->Now() + seconds(1),
        [&](StatusOr<std::unique_ptr<Stream>> stream) { opened = *std::move(stream); });
    Run();
    return opened;
  }
  std::unique_ptr<ClientConnection> Connect(const FrameServer& server,
                                            const ClientConnectionOptions& options = {}) {
    auto connection = std::make_unique<ClientConnection>(OpenStream(server), options);
    connection->Start([](const Status&) {});
    return connection;
  }
  std::unique_ptr<SilentPeer> ConnectSilent(const FrameServer& server) {
    auto peer = std::make_unique<SilentPeer>();
    peer->stream = OpenStream(server);
    peer->stream->Start(peer.get());
    return peer;
  }
  // A peer that has asked for one answer and does not read it.
  std::unique_ptr<SilentPeer> Ask(const FrameServer& server) {
    auto peer = ConnectSilent(server);
    peer->stream->SetReading(false);
    std::string bytes;
    EXPECT_TRUE(
        AppendFrame(FrameType::kRequest, 1, EncodeRequestHeader(Header()), "x", &bytes).ok());
    peer->stream->Write(bytes);
    Run();
    return peer;
  }

  static RequestHeader Header(std::string_view service = "echo", bool stream = false) {
    RequestHeader header;
    header.service = ServiceName(std::string(service));
    header.method = MethodName("Echo");
    header.stream = stream;
    return header;
  }
  void Call(ClientConnection& connection, const RequestHeader& header, std::string_view payload,
            Answer* answer) {
    const StatusOr<uint64_t> call = connection.Call(header, payload, answer);
    EXPECT_TRUE(call.ok()) << call.status();
  }
  void Run(Duration duration = milliseconds(50)) {
    simulator_.RunFor(duration);
    largest_used_ = std::max(largest_used_, budget_->used());
  }

  Simulator simulator_{1};
  Loop* const server_loop_;
  Loop* const client_loop_;
  const std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 * kMiB);
  size_t answer_size_ = 0;  // 0: requests are kept for the test to answer
  size_t largest_used_ = 0;
  std::vector<IncomingRequest> requests_;
};

TEST_F(MemoryPressureTest, PeersThatStopReadingStayWithinTheBudget) {
  const auto server = Serve(Options());
  answer_size_ = 8 * kMiB;
  std::vector<std::unique_ptr<SilentPeer>> peers;
  for (int i = 0; i < 64; ++i) peers.push_back(Ask(*server));
  EXPECT_GT(budget_->used(MemoryUse::kAnswers), 16 * kMiB) << "as many as fit get their answers";
  EXPECT_LE(largest_used_, budget_->size());
  EXPECT_GT(budget_->refusals(MemoryUse::kAnswers), 30u);

  answer_size_ = 100;
  Answer answer;
  const auto good = Connect(*server);
  Call(*good, Header(), "x", &answer);
  Run();
  EXPECT_EQ(answer.code(), StatusCode::kOk) << "small requests of others are served";
  for (const auto& peer : peers) peer->stream->SetReading(true);
  Run(seconds(5));
  EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(MemoryPressureTest, AnswerThatFindsNoMemoryBecomesAnErrorOfItsCallOnly) {
  const auto server = Serve(Options());
  std::vector<Answer> answers(3);
  const auto connection = Connect(*server);
  for (Answer& answer : answers) Call(*connection, Header(), "x", &answer);
  Run();
  ASSERT_EQ(requests_.size(), 3u);
  requests_[0].reply.Send({}, std::string(30 * kMiB, 'a'));
  requests_[1].reply.Send({}, std::string(10 * kMiB, 'b'));
  requests_[2].reply.Send({}, "c");
  Run(seconds(5));
  EXPECT_EQ(answers[0].code(), StatusCode::kResourceExhausted) << "over a quarter of the budget";
  EXPECT_EQ(answers[1].code(), StatusCode::kOk);
  EXPECT_EQ((**answers[1].result).payload, std::string(10 * kMiB, 'b'));
  EXPECT_EQ(answers[2].code(), StatusCode::kOk);
  EXPECT_TRUE(connection->usable());
  EXPECT_EQ(budget_->refusals(MemoryUse::kAnswers), 1u);
}

TEST_F(MemoryPressureTest, RequestOverTheShareIsRefusedWithoutBeingBuffered) {
  const auto server = Serve(Options());
  Answer large;
  Answer fitting;
  const auto connection = Connect(*server);
  Call(*connection, Header(), std::string(15 * kMiB, 'x'), &large);
  Call(*connection, Header(), std::string(kMiB, 'y'), &fitting);
  Run(seconds(5));
  EXPECT_EQ(large.code(), StatusCode::kResourceExhausted);
  ASSERT_EQ(requests_.size(), 1u) << "the next request of the connection is served";
  EXPECT_EQ(requests_[0].payload, std::string(kMiB, 'y'));
  EXPECT_EQ(budget_->used(MemoryUse::kRequests), kMiB) << "charged while it is unanswered";
  EXPECT_LE(largest_used_, 2 * kMiB);
  EXPECT_EQ(budget_->refusals(MemoryUse::kRequests), 1u);
  requests_.clear();
  Run();
  EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(MemoryPressureTest, DamageInADroppedPayloadClosesTheConnection) {
  const auto server = Serve(Options());
  const auto peer = ConnectSilent(*server);
  std::string bytes;
  ASSERT_TRUE(AppendFrame(FrameType::kRequest, 1, EncodeRequestHeader(Header()),
                          std::string(20 * kMiB, 'x'), &bytes)
                  .ok());
  bytes.back() ^= 1;
  peer->stream->Write(bytes);
  Run(seconds(5));
  EXPECT_TRUE(peer->closed);
  EXPECT_EQ(peer->received_size, 0u) << "nothing of a damaged frame is answered";
  EXPECT_TRUE(requests_.empty());
}

TEST_F(MemoryPressureTest, IncompletePayloadsAreChargedBeforeTheyArrive) {
  const auto server = Serve(Options());
  const auto peer = ConnectSilent(*server);
  std::string bytes;
  ASSERT_TRUE(AppendFrame(FrameType::kRequest, 1, EncodeRequestHeader(Header()),
                          std::string(5 * kMiB, 'x'), &bytes)
                  .ok());
  peer->stream->Write(bytes.substr(0, 1000));
  Run();
  EXPECT_EQ(budget_->used(MemoryUse::kRequests), 5 * kMiB);
  peer->stream.reset();
  Run();
  EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(MemoryPressureTest, PeerThatReadsNothingIsClosedFirstWhenMemoryIsShort) {
  const auto server = Serve(Options());
  answer_size_ = 10 * kMiB;
  std::vector<std::unique_ptr<SilentPeer>> peers;
  for (int i = 0; i < 4; ++i) peers.push_back(Ask(*server));
  answer_size_ = 6 * kMiB;
  for (int i = 0; i < 4; ++i) peers.push_back(Ask(*server));
  ASSERT_TRUE(budget_->under_pressure());
  EXPECT_EQ(server->connection_count(), 8u);
  Run(seconds(4));
  EXPECT_FALSE(budget_->under_pressure());
  EXPECT_EQ(server->connection_count(), 7u) << "no more than needed";
  for (const auto& peer : peers) peer->stream->SetReading(true);
  Run(seconds(4));
  EXPECT_TRUE(peers[0]->closed) << "the one with the most unread bytes";
  EXPECT_LT(peers[0]->received_size, 10 * kMiB);
  EXPECT_GT(peers[1]->received_size, 10 * kMiB) << "the others get their answers";
  EXPECT_FALSE(peers[1]->closed);
  EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(MemoryPressureTest, PeerThatReadsSlowlyIsNotClosed) {
  const auto server = Serve(Options());
  answer_size_ = 10 * kMiB;
  const auto slow = Ask(*server);
  answer_size_ = 6 * kMiB;
  std::vector<std::unique_ptr<SilentPeer>> peers;
  for (int i = 0; i < 4; ++i) peers.push_back(Ask(*server));
  ASSERT_TRUE(budget_->under_pressure());
  for (int i = 0; i < 5; ++i) {  // the first bytes of each second
    slow->stream->SetReading(true);
    Run(std::chrono::microseconds(10));
    slow->stream->SetReading(false);
    Run(seconds(1));
  }
  slow->stream->SetReading(true);
  Run(seconds(1));
  EXPECT_EQ(server->connection_count(), 4u) << "one that reads nothing was closed";
  EXPECT_FALSE(slow->closed);
  EXPECT_GT(slow->received_size, 10 * kMiB);
}

TEST_F(MemoryPressureTest, ControlRequestsUseTheLastOfTheBudget) {
  const auto server = Serve(Options());
  const auto other = MemoryShare::Of(budget_);
  MemoryCharge charge;
  ASSERT_TRUE(other->TryCharge(MemoryUse::kHttp, 62 * kMiB, MemoryRank::kControl, &charge));
  std::vector<Answer> answers(3);
  const auto connection = Connect(*server);
  Call(*connection, Header(), std::string(kMiB, 'x'), &answers[0]);
  Call(*connection, Header(kControlService), std::string(kMiB, 'x'), &answers[1]);
  Call(*connection, Header(), "tiny", &answers[2]);
  Run(seconds(1));
  EXPECT_EQ(answers[0].code(), StatusCode::kResourceExhausted);
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_EQ(requests_[0].header.service.value(), kControlService);
  EXPECT_EQ(requests_[1].payload, "tiny");
}

TEST_F(MemoryPressureTest, ManySmallRequestsAreChargedTogether) {
  const auto server = Serve(Options());
  std::vector<Answer> answers(1000);
  const auto connection = Connect(*server);
  for (Answer& answer : answers) Call(*connection, Header(), "x", &answer);
  Run();
  ASSERT_EQ(requests_.size(), answers.size());
  EXPECT_GE(budget_->used(MemoryUse::kRequests), 999 * kLargePayloadSize);
  for (IncomingRequest& request : requests_) request.reply.Send({}, "y");
  Run();
  EXPECT_EQ(answers.back().code(), StatusCode::kOk);
  EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(MemoryPressureTest, StreamIsRefusedIfItsWindowsDoNotFit) {
  const auto server = Serve(Options());
  const auto other = MemoryShare::Of(budget_);
  MemoryCharge charge;
  ASSERT_TRUE(other->TryCharge(MemoryUse::kHttp, 56 * kMiB, MemoryRank::kControl, &charge));
  Answer refused;
  Answer taken;
  const auto connection = Connect(*server);
  Call(*connection, Header("echo", /*stream=*/true), "", &refused);
  Run();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(budget_->refusals(MemoryUse::kStreams), 1u);
  charge.Release();
  Call(*connection, Header("echo", /*stream=*/true), "", &taken);
  Run();
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(budget_->used(MemoryUse::kStreams), 2 * kMessageWindowSize);
}

TEST_F(MemoryPressureTest, CallerRefusesAnAnswerThatDoesNotFitItsOwnBudget) {
  answer_size_ = 5 * kMiB;
  const auto server = Serve({});
  ClientConnectionOptions options;
  options.memory.budget = std::make_shared<MemoryBudget>(16 * kMiB);
  std::vector<Answer> answers(2);
  const auto connection = Connect(*server, options);
  Call(*connection, Header(), "x", &answers[0]);
  Run(seconds(1));
  answer_size_ = kMiB;
  Call(*connection, Header(), "x", &answers[1]);
  Run(seconds(1));
  EXPECT_EQ(answers[0].code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(answers[1].code(), StatusCode::kOk);
  EXPECT_TRUE(connection->usable());
  EXPECT_EQ(options.memory.budget->used(), 0u);
  EXPECT_EQ(options.memory.budget->refusals(MemoryUse::kCalls), 1u);
}

TEST_F(MemoryPressureTest, CallerDoesNotQueueARequestThatDoesNotFitItsOwnBudget) {
  const auto server = Serve({});
  ClientConnectionOptions options;
  options.memory.budget = std::make_shared<MemoryBudget>(16 * kMiB);
  Answer answer;
  const auto connection = Connect(*server, options);
  const auto call = connection->Call(Header(), std::string(5 * kMiB, 'x'), &answer);
  EXPECT_EQ(call.status().code(), StatusCode::kResourceExhausted);
  Call(*connection, Header(), std::string(3 * kMiB, 'x'), &answer);
  EXPECT_GE(options.memory.budget->used(MemoryUse::kCalls), 3 * kMiB);
  Run(seconds(1));
  EXPECT_EQ(requests_.size(), 1u);
}

// Places for connections.

TEST_F(MemoryPressureTest, IdleConnectionGivesItsPlaceToANewOneOldestFirst) {
  FrameServerOptions options;
  options.connection_count_max = 3;
  const auto server = Serve(options);
  answer_size_ = 1;
  std::vector<std::unique_ptr<ClientConnection>> used;
  Answer answers[2];
  for (Answer& answer : answers) {
    used.push_back(Connect(*server));
    Call(*used.back(), Header(), "x", &answer);
    Run();
  }
  const auto unused = ConnectSilent(*server);
  const auto first = ConnectSilent(*server);
  Run();
  EXPECT_TRUE(unused->closed) << "one that never sent a request goes first";
  EXPECT_TRUE(used[0]->usable());
  Answer more[2];
  const auto second = Connect(*server);  // in the place of `first`
  Call(*second, Header(), "x", &more[0]);
  Run();
  EXPECT_TRUE(first->closed);
  const auto third = Connect(*server);
  Call(*third, Header(), "x", &more[1]);
  Run();
  EXPECT_EQ(more[1].code(), StatusCode::kOk);
  EXPECT_FALSE(used[0]->usable()) << "then the one idle for the longest time";
  EXPECT_TRUE(used[1]->usable());
}

TEST_F(MemoryPressureTest, ConnectionWithARequestKeepsItsPlace) {
  Counter refused_count;
  FrameServerOptions options;
  options.connection_count_max = 1;
  options.refused_connections = &refused_count;
  const auto server = Serve(options);
  Answer answer;
  const auto busy = Connect(*server);
  Call(*busy, Header(), "x", &answer);
  Run();
  const auto refused = ConnectSilent(*server);
  Run();
  EXPECT_TRUE(refused->closed);
  EXPECT_EQ(refused_count.value(), 1u);
  requests_.at(0).reply.Send({}, "y");
  Run();
  EXPECT_EQ(answer.code(), StatusCode::kOk);
}

TEST_F(MemoryPressureTest, ServersOfANodeShareItsPlaces) {
  FrameServerOptions options;
  options.slots = std::make_shared<ConnectionSlots>(2);
  const auto one = Serve(options);
  const auto other = Serve(options);
  Answer answers[2];
  std::vector<std::unique_ptr<ClientConnection>> busy;
  for (Answer& answer : answers) {
    busy.push_back(Connect(*one));
    Call(*busy.back(), Header(), "x", &answer);
    Run();
  }
  const auto refused = ConnectSilent(*other);
  Run();
  EXPECT_TRUE(refused->closed);
  EXPECT_EQ(options.slots->refused_count(), 1u);
  busy.clear();
  Run();
  EXPECT_EQ(options.slots->used(), 0u);
  const auto accepted = ConnectSilent(*other);
  Run();
  EXPECT_FALSE(accepted->closed);
  EXPECT_EQ(options.slots->used(), 1u);
}

TEST_F(MemoryPressureTest, ConnectionTakesAPlaceOnlyAfterItsHandshake) {
  constexpr char kKey[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
  SecureNetworkOptions security;
  security.keys = std::make_shared<const ClusterKeys>(*ClusterKeys::Parse(kKey, "test"));
  SecureNetwork of_server(*server_loop_, security);
  SecureNetwork of_client(*client_loop_, security);
  FrameServerOptions options;
  options.slots = std::make_shared<ConnectionSlots>(1);
  options.network = &of_server;
  const auto server = Serve(options);
  std::vector<std::unique_ptr<SilentPeer>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(ConnectSilent(*server));
  EXPECT_EQ(options.slots->used(), 0u);
  std::unique_ptr<Stream> opened;
  of_client.Connect(server->local(), client_loop_->Now() + seconds(1),
                    [&](StatusOr<std::unique_ptr<Stream>> stream) { opened = *std::move(stream); });
  Run();
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(options.slots->used(), 1u);
  EXPECT_EQ(options.slots->refused_count(), 0u);
  Run(security.handshake_timeout);
  for (const auto& peer : silent) EXPECT_TRUE(peer->closed);
  EXPECT_EQ(options.slots->used(), 1u);
}

TEST_F(MemoryPressureTest, AnswerIsChargedWithItsWholeBuffer) {
  const auto server = Serve(Options());
  const auto peer = Ask(*server);
  ASSERT_EQ(requests_.size(), 1u);
  std::string answer;
  answer.reserve(10 * kMiB);
  answer.resize(2 * kMiB);
  requests_[0].reply.Send({}, std::move(answer));
  Run();
  EXPECT_GE(budget_->used(MemoryUse::kAnswers), 10 * kMiB);
  peer->stream->SetReading(true);
  Run(seconds(5));
  EXPECT_EQ(budget_->used(), 0u);
}

}  // namespace
}  // namespace neptune
