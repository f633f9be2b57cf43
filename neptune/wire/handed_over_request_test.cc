// Requests as their handler gets them: what it moves stays with it, the rest is the connection's
// again, which uses it for the next request.

#include <gtest/gtest.h>

#include <functional>
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
using std::chrono::seconds;

struct RecordedAnswer final : public AnswerSink {
  void OnAnswer(StatusOr<CallAnswer>&& answer) override {
    code = answer.ok() ? answer->header.status.code() : answer.status().code();
    if (answer.ok()) payload = answer->payload;
  }
  std::optional<StatusCode> code;
  std::string payload;
};

class HandedOverRequestTest : public testing::Test {
 protected:
  HandedOverRequestTest()
      : server_loop_(*simulator_.AddHost({.name = "server"}).StartLoop({.name = "loop"})),
        client_loop_(*simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"})),
        server_(*server_loop_, {},
                [this](IncomingRequest&& request) { handler_(std::move(request)); }) {
    EXPECT_TRUE(server_.Listen({simulator_.host("server").address(), 0}, false).ok());
    client_loop_->network().Connect(server_.local(), client_loop_->Now() + seconds(1),
                                    [&](StatusOr<std::unique_ptr<Stream>> stream) {
                                      connection_ = std::make_unique<ClientConnection>(
                                          *std::move(stream), ClientConnectionOptions());
                                      connection_->Start([](const Status&) {});
                                    });
    Run();
  }

  static RequestHeader Header(const std::string& method = "Echo") {
    RequestHeader header;
    header.service = ServiceName("echo");
    header.method = MethodName(method);
    return header;
  }
  // Calls and runs for a while; returns whether and how the call was answered.
  RecordedAnswer& Call(const RequestHeader& header, std::string_view payload) {
    RecordedAnswer& answer = *answers_.emplace_back(std::make_unique<RecordedAnswer>());
    EXPECT_TRUE(connection_->Call(header, payload, &answer).ok());
    Run();
    return answer;
  }
  void Run() { simulator_.RunFor(milliseconds(10)); }

  std::vector<std::unique_ptr<RecordedAnswer>> answers_;  // outlive the connection
  Simulator simulator_{1};
  Loop* const server_loop_;
  Loop* const client_loop_;
  std::function<void(IncomingRequest&&)> handler_;
  FrameServer server_;
  std::unique_ptr<ClientConnection> connection_;
};

TEST_F(HandedOverRequestTest, EachIsItsOwnWhateverBecameOfTheOneBefore) {
  std::vector<IncomingRequest> kept;
  std::vector<Reply> replies;
  size_t count = 0;
  RequestHeader expected;
  handler_ = [&](IncomingRequest&& request) {
    EXPECT_EQ(request.header, expected);
    EXPECT_EQ(request.call->cancelled(), false);
    EXPECT_EQ(request.deadline == kNever, !expected.time_left.has_value());
    switch (count++ % 4) {
      case 0:
        return request.reply.Send({}, request.payload);
      case 1:
        return kept.push_back(std::move(request));
      case 2:
        return replies.push_back(std::move(request.reply));
      default:
        request.header.service_class = "another";
        std::string answer = std::move(request.payload);
        return request.reply.SendFrom({}, &answer);
    }
  };
  for (int i = 0; i < 40; ++i) {
    expected = Header(i % 3 == 0 ? "Sum" : "Echo");
    if (i % 5 == 0) expected.extension = StrCat("more ", i);
    if (i % 7 == 0) expected.time_left = std::chrono::microseconds(1'000'000);
    const std::string payload(static_cast<size_t>(i * i * 3), static_cast<char>('a' + i % 26));
    const RecordedAnswer& answer = Call(expected, payload);
    EXPECT_EQ(answer.code.has_value(), i % 4 == 0 || i % 4 == 3) << i;
    if (answer.code) {
      EXPECT_EQ(answer.payload, payload);
    }
  }
  EXPECT_EQ(server_.in_flight_count(), kept.size() + replies.size());
  for (IncomingRequest& request : kept) request.reply.Send({}, request.payload);
  for (Reply& reply : replies) reply.Send({}, "late");
  Run();
  EXPECT_EQ(server_.in_flight_count(), 0u);
  for (const auto& answer : answers_) EXPECT_EQ(answer->code, StatusCode::kOk);
}

TEST_F(HandedOverRequestTest, OneThatIsNeitherAnsweredNorMovedIsAnsweredWithAnError) {
  handler_ = [](IncomingRequest&&) {};
  EXPECT_EQ(Call(Header(), "x").code, StatusCode::kInternal);
  handler_ = [](IncomingRequest&& request) { request.reply.Send({}, "y"); };
  EXPECT_EQ(Call(Header(), "x").code, StatusCode::kOk);
}

TEST_F(HandedOverRequestTest, AReplyThatWasMovedOutlivesItsConnection) {
  std::optional<Reply> reply;
  handler_ = [&](IncomingRequest&& request) { reply.emplace(std::move(request.reply)); };
  Call(Header(), "x");
  connection_.reset();
  Run();
  EXPECT_EQ(server_.connection_count(), 0u);
  reply->Send({}, "no one is there");
}

TEST_F(HandedOverRequestTest, ACallThatWasKeptIsCancelledWithItsConnection) {
  std::shared_ptr<IncomingCall> call;
  std::optional<Reply> reply;
  handler_ = [&](IncomingRequest&& request) {
    call = request.call;
    reply.emplace(std::move(request.reply));
  };
  Call(Header(), "x");
  EXPECT_FALSE(call->cancelled());
  connection_.reset();
  Run();
  EXPECT_TRUE(call->cancelled());
}

TEST_F(HandedOverRequestTest, ACallThatWasAnsweredAndKeptIsNotUsedAgain) {
  std::shared_ptr<IncomingCall> first;
  IncomingCall* second = nullptr;
  handler_ = [&](IncomingRequest&& request) {
    if (first == nullptr) {
      first = request.call;
    } else {
      second = request.call.get();
    }
    request.reply.Send({}, "");
  };
  Call(Header(), "x");
  Call(Header(), "x");
  EXPECT_NE(first.get(), second);
}

TEST_F(HandedOverRequestTest, NotesAreKeptForEachNameOnce) {
  int written_count = 0;
  handler_ = [&](IncomingRequest&& request) {
    // The first request of a connection spells its names out.
    if (request.note != nullptr && request.note->method == nullptr) {
      ++written_count;
      request.note->method = request.header.method.value() == "Echo" ? "the echo" : "the sum";
    }
    if (request.note != nullptr) {
      EXPECT_STREQ(static_cast<const char*>(request.note->method),
                   request.header.method.value() == "Echo" ? "the echo" : "the sum");
    }
    request.reply.Send({}, "");
  };
  for (int i = 0; i < 30; ++i) Call(Header(i % 2 == 0 ? "Echo" : "Sum"), "x");
  EXPECT_EQ(written_count, 2);
}

}  // namespace
}  // namespace neptune
