// The two sides of a connection, over the simulated network.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/wire/client_connection.h"
#include "neptune/wire/server_connection.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct RecordedAnswer final : public AnswerSink {
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

// A stream whose owner speaks bytes, not frames.
struct RawPeer final : public StreamHandler {
  void OnData(std::string_view bytes) override { received += bytes; }
  void OnClosed(const Status&) override { closed = true; }
  std::unique_ptr<Stream> stream;
  std::string received;
  bool closed = false;
};

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest()
      : server_loop_(*simulator_.AddHost({.name = "server"}).StartLoop({.name = "loop"})),
        client_loop_(*simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"})) {}

  void Serve(const FrameServerOptions& options = {}) {
    server_ =
        std::make_unique<FrameServer>(*server_loop_, options, [this](IncomingRequest request) {
          if (answer_at_once_.empty()) {
            requests_.push_back(std::move(request));
          } else {
            ++answered_count_;
            request.reply.Send({}, answer_at_once_);
          }
        });
    ASSERT_TRUE(server_->Listen({simulator_.host("server").address(), 0}, false).ok());
  }

  std::unique_ptr<Stream> OpenStream() {
    std::unique_ptr<Stream> opened;
    client_loop_->network().Connect(
        server_->local(), client_loop_->Now() + seconds(1),
        [&](StatusOr<std::unique_ptr<Stream>> stream) { opened = *std::move(stream); });
    simulator_.RunFor(milliseconds(10));
    return opened;
  }

  std::unique_ptr<ClientConnection> Connect(const ClientConnectionOptions& options = {}) {
    auto connection = std::make_unique<ClientConnection>(OpenStream(), options);
    connection->Start([this](const Status&) { ++ended_count_; });
    return connection;
  }

  std::unique_ptr<RawPeer> ConnectRaw() {
    auto peer = std::make_unique<RawPeer>();
    peer->stream = OpenStream();
    peer->stream->Start(peer.get());
    return peer;
  }

  static RequestHeader Header(const std::string& method = "Echo") {
    RequestHeader header;
    header.service = ServiceName("echo");
    header.method = MethodName(method);
    return header;
  }

  static std::string RequestBytes(uint64_t call, std::string_view payload) {
    std::string bytes;
    EXPECT_TRUE(
        AppendFrame(FrameType::kRequest, call, EncodeRequestHeader(Header()), payload, &bytes)
            .ok());
    return bytes;
  }

  // Makes a call; it is under way when this returns.
  uint64_t Call(ClientConnection& connection, std::string_view payload, RecordedAnswer* answer) {
    const StatusOr<uint64_t> call = connection.Call(Header(), payload, answer);
    EXPECT_TRUE(call.ok()) << call.status();
    return call.value_or(0);
  }
  void Run(Duration duration = milliseconds(10)) { simulator_.RunFor(duration); }

  Simulator simulator_{1};
  Loop* const server_loop_;
  Loop* const client_loop_;
  std::string answer_at_once_;  // empty: requests are kept for the test to answer
  std::vector<IncomingRequest> requests_;
  std::unique_ptr<FrameServer> server_;
  int answered_count_ = 0;
  int ended_count_ = 0;
};

TEST_F(ConnectionTest, ManyCallsAreAnsweredInAnyOrder) {
  std::vector<RecordedAnswer> answers(1000);
  Serve();
  const auto connection = Connect();
  for (size_t i = 0; i < answers.size(); ++i) Call(*connection, StrCat("q", i), &answers[i]);
  Run();
  ASSERT_EQ(requests_.size(), answers.size());
  EXPECT_EQ(server_->in_flight_count(), answers.size());
  for (size_t i = 0; i < requests_.size(); ++i) {
    IncomingRequest& request = requests_[(i * 7 + 3) % requests_.size()];
    request.reply.Send({.load_index = 5}, "answer to " + request.payload);
  }
  Run();
  for (size_t i = 0; i < answers.size(); ++i) {
    ASSERT_EQ(answers[i].code(), StatusCode::kOk);
    EXPECT_EQ((**answers[i].result).payload, StrCat("answer to q", i));
  }
  EXPECT_EQ(connection->in_flight_count(), 0u);
  EXPECT_EQ(server_->in_flight_count(), 0u);
}

TEST_F(ConnectionTest, ForgottenCallIsCancelledOnTheServer) {
  RecordedAnswer answer;
  RecordedAnswer other;
  Serve();
  const auto connection = Connect();
  const uint64_t call = Call(*connection, "a", &answer);
  Call(*connection, "b", &other);
  Run();
  ASSERT_EQ(requests_.size(), 2u);
  int cancelled_count = 0;
  requests_[0].call->OnCancel([&] { ++cancelled_count; });
  connection->Forget(call, /*tell_server=*/true);
  Run();
  EXPECT_EQ(cancelled_count, 1);
  EXPECT_TRUE(requests_[0].call->cancelled());
  EXPECT_FALSE(requests_[1].call->cancelled());
  for (IncomingRequest& request : requests_) request.reply.Send({}, "late");
  Run();
  EXPECT_FALSE(answer.result.has_value());
  EXPECT_EQ(other.code(), StatusCode::kOk);
}

TEST_F(ConnectionTest, LostServerFailsEveryCallOnce) {
  std::vector<RecordedAnswer> answers(3);
  Serve();
  const auto connection = Connect();
  for (RecordedAnswer& answer : answers) Call(*connection, "x", &answer);
  Run();
  simulator_.Crash("server", CrashKind::kProcess);
  Run();
  for (const RecordedAnswer& answer : answers) EXPECT_EQ(answer.code(), StatusCode::kUnavailable);
  EXPECT_EQ(ended_count_, 1);
  EXPECT_FALSE(connection->usable());
}

TEST_F(ConnectionTest, LostCallerCancelsItsRequests) {
  RecordedAnswer answer;
  Serve();
  const auto connection = Connect();
  Call(*connection, "x", &answer);
  Run();
  simulator_.Crash("client", CrashKind::kProcess);
  Run();
  EXPECT_TRUE(requests_[0].call->cancelled());
  EXPECT_EQ(server_->connection_count(), 0u);
  requests_[0].reply.Send({}, "the caller is gone");
  Run();
}

TEST_F(ConnectionTest, DrainLetsCallsEndAndTakesNoNewOnes) {
  RecordedAnswer answer;
  Serve();
  const auto connection = Connect();
  Call(*connection, "x", &answer);
  Run();
  server_->Drain();
  Run();
  EXPECT_FALSE(connection->usable());
  EXPECT_EQ(connection->Call(Header(), "y", &answer).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(ended_count_, 0);
  requests_[0].reply.Send({}, "done");
  Run();
  EXPECT_EQ(answer.code(), StatusCode::kOk);
  EXPECT_EQ(ended_count_, 1) << "the caller hangs up";
}

TEST_F(ConnectionTest, ReplyThatIsDroppedAnswersInternal) {
  RecordedAnswer answer;
  Serve();
  const auto connection = Connect();
  Call(*connection, "x", &answer);
  Run();
  requests_.clear();
  Run();
  EXPECT_EQ(answer.code(), StatusCode::kInternal);
}

TEST_F(ConnectionTest, RequestOverTheLimitIsNotSentAndCostsNothingElse) {
  RecordedAnswer answer;
  Serve();
  const auto connection = Connect({.frames = {.payload_size_max = 100}});
  EXPECT_EQ(connection->Call(Header(), std::string(101, 'x'), &answer).status().code(),
            StatusCode::kResourceExhausted);
  Call(*connection, std::string(100, 'x'), &answer);
  Run();
  EXPECT_EQ(requests_.size(), 1u);
}

TEST_F(ConnectionTest, AnswerOverTheLimitIsAnErrorOfItsCallOnly) {
  std::vector<RecordedAnswer> answers(2);
  Serve({.frames = {.payload_size_max = 100}});
  const auto connection = Connect();
  for (RecordedAnswer& answer : answers) Call(*connection, "x", &answer);
  Run();
  requests_[0].reply.Send({}, std::string(101, 'x'));
  requests_[1].reply.Send({}, "small");
  Run();
  EXPECT_EQ(answers[0].code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(answers[1].code(), StatusCode::kOk);
  EXPECT_TRUE(connection->usable());
}

TEST_F(ConnectionTest, FrameOverTheServersLimitClosesItsConnectionOnly) {
  RecordedAnswer good_answer;
  RecordedAnswer bad_answer;
  Serve({.frames = {.payload_size_max = 100}});
  const auto good = Connect();
  const auto bad = Connect();
  Call(*good, "x", &good_answer);
  Call(*bad, std::string(101, 'x'), &bad_answer);
  Run();
  EXPECT_EQ(bad_answer.code(), StatusCode::kUnavailable);
  ASSERT_EQ(requests_.size(), 1u);
  requests_[0].reply.Send({}, "y");
  Run();
  EXPECT_EQ(good_answer.code(), StatusCode::kOk);
}

TEST_F(ConnectionTest, GarbageClosesItsConnectionOnly) {
  RecordedAnswer answer;
  Serve();
  const auto good = Connect();
  const auto garbage = ConnectRaw();
  garbage->stream->Write("GET / HTTP/1.1\r\nHost: this is no frame at all\r\n\r\n");
  Run();
  EXPECT_TRUE(garbage->closed);
  EXPECT_EQ(server_->connection_count(), 1u);
  Call(*good, "x", &answer);
  Run();
  EXPECT_EQ(requests_.size(), 1u);
}

TEST_F(ConnectionTest, CallNumberUsedTwiceClosesTheConnection) {
  Serve();
  const auto peer = ConnectRaw();
  peer->stream->Write(RequestBytes(1, "a") + RequestBytes(1, "b"));
  Run();
  EXPECT_TRUE(peer->closed);
  EXPECT_TRUE(requests_.at(0).call->cancelled());
}

TEST_F(ConnectionTest, NumberOfACancelledCallIsNotUsedAgain) {
  Serve();
  const auto peer = ConnectRaw();
  std::string cancel;
  ASSERT_TRUE(AppendFrame(FrameType::kCancel, 1, "", "", &cancel).ok());
  peer->stream->Write(RequestBytes(1, "a") + cancel + RequestBytes(1, "b"));
  Run();
  EXPECT_EQ(requests_.size(), 1u) << "its late answer would be taken for the second one's";
  EXPECT_TRUE(peer->closed);
}

// What a peer sends after it opened stream 1, and whether the connection continues.
struct StreamFrames {
  const char* what;
  FrameType type;
  size_t payload_size;
  int count;
  bool goes_on;
};

TEST_F(ConnectionTest, RulesOfAMessageStreamAreKept) {
  Serve();
  RequestHeader header;
  header.stream = true;
  for (const StreamFrames& frames : {
           StreamFrames{"a window and a message", FrameType::kMessage, 100'000, 3, true},
           StreamFrames{"over the window", FrameType::kMessage, 100'000, 4, false},
           StreamFrames{"a message over the limit", FrameType::kMessage, kMessageSizeMax + 1, 1,
                        false},
           StreamFrames{"one end", FrameType::kEnd, 0, 1, true},
           StreamFrames{"two ends", FrameType::kEnd, 0, 2, false},
           StreamFrames{"an end with a payload", FrameType::kEnd, 1, 1, false},
           StreamFrames{"a grant without its size", FrameType::kGrant, 0, 1, false},
       }) {
    const auto peer = ConnectRaw();
    std::string bytes;
    ASSERT_TRUE(AppendFrame(FrameType::kRequest, 1, EncodeRequestHeader(header), "", &bytes).ok());
    for (int i = 0; i < frames.count; ++i) {
      const std::string payload(frames.payload_size, 'x');
      ASSERT_TRUE(AppendFrame(frames.type, 1, "", payload, &bytes).ok());
    }
    peer->stream->Write(bytes);
    Run(milliseconds(200));
    EXPECT_EQ(peer->closed, !frames.goes_on) << frames.what;
    EXPECT_EQ(requests_.back().call->cancelled(), !frames.goes_on) << frames.what;
  }
}

TEST_F(ConnectionTest, MessageForACallThatIsNoStreamClosesTheConnection) {
  Serve();
  const auto peer = ConnectRaw();
  std::string message;
  ASSERT_TRUE(AppendFrame(FrameType::kMessage, 1, "", "x", &message).ok());
  peer->stream->Write(RequestBytes(1, "a") + message);
  Run();
  EXPECT_TRUE(peer->closed);
}

TEST_F(ConnectionTest, ActionsOfACancelledCallRunInOrderUnlessForgotten) {
  IncomingCall call;
  std::string ran;
  call.OnCancel([&] { ran += "a"; });
  const uint64_t forgotten = call.OnCancel([&] { ran += "b"; });
  call.OnCancel([&] { ran += "c"; });
  call.Forget(forgotten);
  {
    const CancelAction in_a_scope(&call, [&] { ran += "d"; });
  }
  call.Cancel();
  call.Cancel();
  EXPECT_EQ(ran, "ac");
  call.OnCancel([&] { ran += "e"; });
  EXPECT_EQ(ran, "ace") << "at once, when it is cancelled already";
}

TEST_F(ConnectionTest, CancellationOfAnUnknownCallIsIgnored) {
  Serve();
  const auto peer = ConnectRaw();
  std::string bytes;
  for (uint64_t call = 1; call < 1000; ++call) {
    ASSERT_TRUE(AppendFrame(FrameType::kCancel, call, "", "", &bytes).ok());
  }
  peer->stream->Write(bytes);
  Run();
  EXPECT_FALSE(peer->closed);
  EXPECT_EQ(server_->in_flight_count(), 0u);
}

TEST_F(ConnectionTest, RequestsOverTheLimitOfOneConnectionAreRefused) {
  std::vector<RecordedAnswer> answers(3);
  Serve({.in_flight_count_max = 2});
  const auto connection = Connect();
  for (RecordedAnswer& answer : answers) Call(*connection, "x", &answer);
  Run();
  EXPECT_EQ(requests_.size(), 2u);
  EXPECT_EQ(answers[2].code(), StatusCode::kResourceExhausted);
}

TEST_F(ConnectionTest, ConnectionsOverTheLimitAreClosedAtOnceUnlessOneIsIdle) {
  Serve({.connection_count_max = 1});
  const auto idle = ConnectRaw();
  const auto first = ConnectRaw();
  Run();
  EXPECT_TRUE(idle->closed);
  first->stream->Write(RequestBytes(1, "a"));
  Run();
  const auto second = ConnectRaw();
  Run();
  EXPECT_TRUE(second->closed);
  EXPECT_FALSE(first->closed);
}

// The peer asks for 100 MB in one go and reads none of it.
TEST_F(ConnectionTest, PeerThatDoesNotReadIsNotReadFrom) {
  answer_at_once_ = std::string(100'000, 'a');
  Serve({.unsent_size_max = 1 << 20});
  const auto peer = ConnectRaw();
  peer->stream->SetReading(false);
  std::string bytes;
  for (uint64_t call = 1; call <= 1000; ++call) bytes += RequestBytes(call, "x");
  peer->stream->Write(bytes);
  Run(seconds(1));
  // One megabyte fills the modelled window and one is the server's limit: 100 kB each.
  EXPECT_LT(answered_count_, 25);
  peer->stream->SetReading(true);
  Run(seconds(20));
  EXPECT_EQ(answered_count_, 1000) << "everything is answered once the peer reads";
  EXPECT_GT(peer->received.size(), 1000u * 100'000u);
  EXPECT_FALSE(peer->closed);
}

TEST_F(ConnectionTest, PeerThatNeverReadsIsClosed) {
  answer_at_once_ = std::string(100'000, 'a');
  Serve({.unsent_size_max = 1 << 20});
  const auto peer = ConnectRaw();
  peer->stream->SetReading(false);
  std::string bytes;
  for (uint64_t call = 1; call <= 1000; ++call) bytes += RequestBytes(call, "x");
  peer->stream->Write(bytes);
  Run(seconds(20));
  EXPECT_EQ(server_->connection_count(), 1u);
  Run(seconds(20));
  EXPECT_EQ(server_->connection_count(), 0u);
}

TEST_F(ConnectionTest, FrameThatDripsIsClosed) {
  Serve();
  const auto slow = ConnectRaw();
  const std::string bytes = RequestBytes(1, std::string(1000, 'x'));
  for (size_t i = 0; i < 60 && !slow->closed; ++i) {
    slow->stream->Write(bytes.substr(i, 1));
    Run(seconds(1));
  }
  EXPECT_TRUE(slow->closed);
  EXPECT_TRUE(requests_.empty());
}

TEST_F(ConnectionTest, IdleConnectionIsDrainedThenClosed) {
  Serve();
  const auto connection = Connect();
  Run(minutes(9));
  EXPECT_TRUE(connection->usable());
  Run(minutes(1) + seconds(10));
  EXPECT_FALSE(connection->usable());
  EXPECT_EQ(ended_count_, 1);
  EXPECT_EQ(server_->connection_count(), 0u);
}

TEST_F(ConnectionTest, IdlePeerThatDoesNotHangUpIsClosed) {
  Serve();
  const auto peer = ConnectRaw();
  Run(minutes(10) + seconds(10));
  EXPECT_FALSE(peer->closed);
  Run(minutes(1));
  EXPECT_TRUE(peer->closed);
}

TEST_F(ConnectionTest, ConnectionWithACallInFlightIsNotIdle) {
  RecordedAnswer answer;
  Serve();
  const auto connection = Connect();
  Call(*connection, "x", &answer);
  Run(minutes(30));
  EXPECT_TRUE(connection->usable());
  requests_.at(0).reply.Send({}, "at last");
  Run();
  EXPECT_EQ(answer.code(), StatusCode::kOk);
}

TEST_F(ConnectionTest, UnfinishedFramesOfAllConnectionsAreBounded) {
  RecordedAnswer answer;
  Serve({.unfinished_size_max = 1000});
  std::vector<std::unique_ptr<RawPeer>> peers;
  const std::string half = RequestBytes(1, std::string(1000, 'x')).substr(0, 400);
  for (int i = 0; i < 3; ++i) {
    peers.push_back(ConnectRaw());
    peers.back()->stream->Write(half);
    Run();
  }
  EXPECT_TRUE(peers[2]->closed);
  EXPECT_EQ(server_->connection_count(), 2u);
  const auto good = Connect();
  Call(*good, "x", &answer);
  Run();
  EXPECT_EQ(requests_.size(), 1u);
}

// A server that speaks bytes and answers every request.
class RawServer final : public StreamHandler {
 public:
  RawServer(Loop& loop, uint32_t address) {
    auto listener = loop.network().Listen({address, 0}, {}, [this](std::unique_ptr<Stream> stream) {
      stream_ = std::move(stream);
      stream_->Start(this);
    });
    EXPECT_TRUE(listener.ok());
    listener_ = *std::move(listener);
  }
  void OnData(std::string_view bytes) override {
    decoder_.Feed(bytes);
    for (auto frame = decoder_.Next(); frame.ok() && frame->has_value(); frame = decoder_.Next()) {
      sections.push_back((*frame)->section);
      std::string out;
      if (says_features) {
        EXPECT_TRUE(AppendFrame(FrameType::kAccepted, kConnectionItself,
                                EncodeFeatures(kFeatureNameNumbers), "", &out)
                        .ok());
      }
      AppendResponse((*frame)->call, {}, "answer", &out);
      stream_->Write(out);
    }
  }
  void OnClosed(const Status&) override { stream_.reset(); }
  Endpoint at() const { return listener_->local(); }

  bool says_features = true;
  std::vector<std::string> sections;  // of the requests

 private:
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Stream> stream_;
  FrameDecoder decoder_;
};

class NamesOnTheWireTest : public ConnectionTest {
 protected:
  NamesOnTheWireTest() : raw_(*server_loop_, simulator_.host("server").address()) {
    client_loop_->network().Connect(
        raw_.at(), client_loop_->Now() + seconds(1), [&](StatusOr<std::unique_ptr<Stream>> stream) {
          connection_ =
              std::make_unique<ClientConnection>(*std::move(stream), ClientConnectionOptions());
          connection_->Start([](const Status&) {});
        });
    Run();
  }
  // Makes a call and returns the section of its request.
  std::string SectionOf(const RequestHeader& header) {
    RecordedAnswer answer;
    EXPECT_TRUE(connection_->Call(header, "x", &answer).ok());
    Run();
    EXPECT_EQ(answer.code(), StatusCode::kOk);
    return raw_.sections.back();
  }

  RawServer raw_;
  std::unique_ptr<ClientConnection> connection_;
};

TEST_F(NamesOnTheWireTest, ANumberTakesTheirPlaceOnceTheServerUnderstandsNumbers) {
  const std::string spelled_out = SectionOf(Header());
  EXPECT_EQ(spelled_out, EncodeRequestHeader(Header()));
  const std::string defining = SectionOf(Header());
  EXPECT_EQ(defining, EncodeRequestHeader(Header(), NameNumber{0, /*is_new=*/true}));
  const std::string numbered = SectionOf(Header());
  EXPECT_EQ(numbered, EncodeRequestHeader(Header(), NameNumber{0}));
  EXPECT_LT(numbered.size(), spelled_out.size());
  EXPECT_EQ(SectionOf(Header("Sum")),
            EncodeRequestHeader(Header("Sum"), NameNumber{1, /*is_new=*/true}));
}

TEST_F(NamesOnTheWireTest, NamesAreSpelledOutForAnOlderServer) {
  raw_.says_features = false;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(SectionOf(Header()), EncodeRequestHeader(Header()));
}

TEST_F(ConnectionTest, RequestsWithNumbersArriveWithTheirNames) {
  Serve();
  const auto connection = Connect();
  std::vector<RecordedAnswer> answers(9);
  for (size_t i = 0; i < answers.size(); ++i) {
    RequestHeader header = Header(i % 2 == 0 ? "Echo" : "Sum");
    header.partition = PartitionId(static_cast<uint32_t>(i));
    header.extension = "more";
    ASSERT_TRUE(connection->Call(header, "x", &answers[i]).ok());
    Run();
    EXPECT_EQ(requests_.back().header, header);
    requests_.back().reply.Send({}, "");
    Run();
    EXPECT_EQ(answers[i].code(), StatusCode::kOk);
  }
}

TEST_F(ConnectionTest, UnknownNumberIsAnErrorOfItsRequestOnly) {
  Serve();
  const auto peer = ConnectRaw();
  std::string bytes;
  ASSERT_TRUE(
      AppendFrame(FrameType::kRequest, 1, EncodeRequestHeader(Header(), NameNumber{7}), "", &bytes)
          .ok());
  peer->stream->Write(bytes + RequestBytes(2, "b"));
  Run();
  EXPECT_EQ(requests_.size(), 1u);
  EXPECT_FALSE(peer->closed);
}

}  // namespace
}  // namespace neptune
