// Calls within a node: a serving loop that calls itself, and a worker loop that calls it.

#include "neptune/wire/local_calls.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct RecordedAnswer final : public AnswerSink {
  void OnAnswer(StatusOr<CallAnswer>&& answer) override {
    EXPECT_FALSE(result.has_value()) << "answered twice";
    result = std::move(answer);
  }
  void OnAccepted() override { ++accepted_count; }
  std::shared_ptr<MessageStream> stream() override { return messages; }
  StatusCode code() const {
    if (!result.has_value()) return StatusCode::kUnknown;
    return result->ok() ? (*result)->header.status.code() : result->status().code();
  }
  std::optional<StatusOr<CallAnswer>> result;
  int accepted_count = 0;
  std::shared_ptr<MessageStream> messages;
};

// Sends the caller's half of a stream.
struct Outlet final : public StreamOutlet {
  Outlet(CallChannel& channel, const uint64_t& call) : channel(channel), call(call) {}
  void SendMessage(std::string message) override { channel.SendMessage(call, std::move(message)); }
  void SendGrant(uint32_t size) override { channel.SendGrant(call, size); }
  void SendEnd() override { channel.SendEnd(call); }
  CallChannel& channel;
  const uint64_t& call;
};

class LocalCallsTest : public testing::TestWithParam<bool> {
 protected:
  LocalCallsTest()
      : host_(simulator_.AddHost({.name = "node"})),
        serving_(*host_.StartLoop({.name = "serve"})),
        calling_(GetParam() ? serving_ : *host_.StartLoop({.name = "work"})) {}

  void Open(const LocalCallsOptions& options = {}) {
    handler_ = [this](IncomingRequest&& request) {
      EXPECT_EQ(Loop::Current(), serving_);
      EXPECT_EQ(UserThread::Current(), nullptr);
      ++received_count_;
      if (answers_at_once_) return request.reply.Send({}, "done");
      requests_.push_back(std::move(request));
    };
    OnLoop([&] {
      calls_ =
          std::make_shared<LocalCalls>(*calling_, std::vector<Loop*>{serving_}, handler_, options);
    });
  }
  void OnLoop(Task task) {
    calling_->Post(std::move(task));
    Run();
  }
  void OnServingLoop(Task task) {
    serving_->Post(std::move(task));
    Run();
  }
  void Run(Duration duration = milliseconds(1)) { simulator_.RunFor(duration); }

  static RequestHeader Header(bool stream = false) {
    RequestHeader header;
    header.service = ServiceName("echo");
    header.method = MethodName("Echo");
    header.stream = stream;
    return header;
  }
  StatusOr<uint64_t> Call(const std::string& payload, RecordedAnswer* answer,
                          const RequestHeader& header = Header()) {
    StatusOr<uint64_t> call = Unavailable("not called");
    OnLoop([&] {
      call = calls_->Call(header, payload, answer);
      EXPECT_FALSE(answer->result.has_value()) << "answered from inside Call";
    });
    return call;
  }

  Simulator simulator_{1};
  SimWorld& host_;
  Loop* const serving_;
  Loop* const calling_;
  LocalHandler handler_;
  std::shared_ptr<LocalCalls> calls_;
  bool answers_at_once_ = false;
  int received_count_ = 0;
  std::vector<IncomingRequest> requests_;
};

INSTANTIATE_TEST_SUITE_P(Loops, LocalCallsTest, testing::Bool(), [](const auto& is_same_loop) {
  return is_same_loop.param ? "OfOneLoop" : "AcrossLoops";
});

TEST_P(LocalCallsTest, RequestArrivesAsItWasSent) {
  Open();
  RecordedAnswer answer;
  RequestHeader header = Header();
  header.partition = PartitionId(3);
  header.service_class = "gold";
  header.extension = "more";
  header.time_left = std::chrono::microseconds(500'000);
  const TimePoint sent_at = simulator_.now();
  ASSERT_TRUE(Call("hello", &answer, header).ok());
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].header, header);
  EXPECT_EQ(requests_[0].payload, "hello");
  EXPECT_EQ(requests_[0].received, sent_at);
  EXPECT_EQ(requests_[0].deadline, sent_at + milliseconds(500));
  OnServingLoop([&] {
    requests_[0].reply.Accept();
    requests_[0].reply.Send({.load_index = 5, .extension = "back"}, "hi");
  });
  EXPECT_EQ(answer.accepted_count, 1);
  ASSERT_EQ(answer.code(), StatusCode::kOk);
  EXPECT_EQ((*answer.result)->payload, "hi");
  EXPECT_EQ((*answer.result)->header.load_index, 5u);
  EXPECT_EQ((*answer.result)->header.extension, "back");
  EXPECT_EQ(calls_->in_flight_count(), 0u);
}

TEST_P(LocalCallsTest, ForgottenCallIsCancelledAtTheServer) {
  Open();
  RecordedAnswer answer;
  const auto call = Call("x", &answer);
  int cancelled_count = 0;
  requests_.at(0).call->OnCancel([&] { ++cancelled_count; });
  OnLoop([&] { calls_->Forget(*call, /*tell_server=*/true); });
  EXPECT_EQ(cancelled_count, 1);
  EXPECT_TRUE(requests_[0].call->cancelled());
  OnServingLoop([&] { requests_[0].reply.Send({}, "late"); });
  EXPECT_FALSE(answer.result.has_value());
  EXPECT_EQ(calls_->in_flight_count(), 0u);
}

TEST_P(LocalCallsTest, CallThatIsForgottenBeforeItArrivesArrivesCancelled) {
  Open();
  RecordedAnswer answer;
  OnLoop([&] {
    const auto call = calls_->Call(Header(), "x", &answer);
    calls_->Forget(*call, /*tell_server=*/true);
  });
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_TRUE(requests_[0].call->cancelled());
}

TEST_P(LocalCallsTest, RequestThatIsDroppedIsAnsweredInternal) {
  Open();
  RecordedAnswer answer;
  ASSERT_TRUE(Call("x", &answer).ok());
  OnServingLoop([&] { requests_.clear(); });
  EXPECT_EQ(answer.code(), StatusCode::kInternal);
}

TEST_P(LocalCallsTest, CallsOverTheLimitAreRefused) {
  Open({.call_count_max = 2});
  std::vector<RecordedAnswer> answers(3);
  EXPECT_TRUE(Call("a", &answers[0]).ok());
  EXPECT_TRUE(Call("b", &answers[1]).ok());
  EXPECT_EQ(Call("c", &answers[2]).status().code(), StatusCode::kResourceExhausted);
  OnServingLoop([&] { requests_[0].reply.Send({}, ""); });
  EXPECT_TRUE(Call("c", &answers[2]).ok());
  OnLoop([&] { calls_->Close(); });
}

TEST_P(LocalCallsTest, PayloadsOverTheLimitAreRefused) {
  Open({.frames = {.payload_size_max = 100}});
  RecordedAnswer refused;
  EXPECT_EQ(Call(std::string(101, 'x'), &refused).status().code(), StatusCode::kResourceExhausted);
  RecordedAnswer answer;
  ASSERT_TRUE(Call(std::string(100, 'x'), &answer).ok());
  OnServingLoop([&] { requests_.at(0).reply.Send({}, std::string(101, 'y')); });
  EXPECT_EQ(answer.code(), StatusCode::kResourceExhausted);
}

TEST_P(LocalCallsTest, RequestsAreChargedUntilTheyEnd) {
  const auto budget = std::make_shared<MemoryBudget>(64 << 20);
  Open({.memory = {.budget = budget}});
  RecordedAnswer large;
  ASSERT_TRUE(Call(std::string(4 << 20, 'x'), &large).ok());
  EXPECT_GE(budget->used(MemoryUse::kRequests), size_t{4} << 20);
  RecordedAnswer too_large;
  EXPECT_EQ(Call(std::string(20 << 20, 'x'), &too_large).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(budget->refusals(MemoryUse::kRequests), 1u);
  RecordedAnswer stream;
  stream.messages = std::make_shared<MessageStream>(nullptr);
  ASSERT_TRUE(Call("", &stream, Header(/*stream=*/true)).ok());
  EXPECT_EQ(budget->used(MemoryUse::kStreams), 2 * kMessageWindowSize);
  OnServingLoop([&] {
    for (IncomingRequest& request : requests_) request.reply.Send({}, "");
    requests_.clear();
  });
  EXPECT_EQ(large.code(), StatusCode::kOk);
  EXPECT_EQ(budget->used(), 0u);
}

TEST_P(LocalCallsTest, ClosingFailsWhatIsInFlight) {
  Open();
  std::vector<RecordedAnswer> answers(3);
  for (RecordedAnswer& answer : answers) ASSERT_TRUE(Call("x", &answer).ok());
  OnLoop([&] { calls_->Close(); });
  for (const RecordedAnswer& answer : answers) EXPECT_EQ(answer.code(), StatusCode::kUnavailable);
  for (const IncomingRequest& request : requests_) EXPECT_TRUE(request.call->cancelled());
  EXPECT_FALSE(calls_->usable());
  RecordedAnswer late;
  EXPECT_EQ(Call("x", &late).status().code(), StatusCode::kUnavailable);
  OnServingLoop([&] { requests_.clear(); });
}

using CallsAcrossLoopsTest = LocalCallsTest;

INSTANTIATE_TEST_SUITE_P(Loops, CallsAcrossLoopsTest, testing::Values(false));

TEST_P(CallsAcrossLoopsTest, HungServingLoopHoldsUpNoOtherLoop) {
  Open();
  RecordedAnswer answer;
  host_.SetLoopHanging("serve", true);
  const auto call = Call("x", &answer);
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(received_count_, 0);
  OnLoop([&] { calls_->Forget(*call, /*tell_server=*/true); });
  host_.SetLoopHanging("serve", false);
  Run();
  EXPECT_EQ(received_count_, 1);
  EXPECT_TRUE(requests_.at(0).call->cancelled());
}

// Each answer makes the next call, as methods that call each other do.
TEST_P(LocalCallsTest, CallsFromAnswersGrowNoStack) {
  answers_at_once_ = true;
  Open();
  struct Chain final : public AnswerSink {
    void OnAnswer(StatusOr<CallAnswer>&& answer) override {
      EXPECT_TRUE(answer.ok());
      const char here = 0;
      if (left % 2 == 0) lowest = std::min(lowest, reinterpret_cast<uintptr_t>(&here));
      highest = std::max(highest, reinterpret_cast<uintptr_t>(&here));
      if (--left == 0) return;
      EXPECT_TRUE(calls->Call(Header(), "x", this).ok());
    }
    LocalCalls* calls = nullptr;
    int left = 10'000;
    uintptr_t lowest = UINTPTR_MAX;
    uintptr_t highest = 0;
  } chain;
  chain.calls = calls_.get();
  OnLoop([&] { EXPECT_TRUE(calls_->Call(Header(), "x", &chain).ok()); });
  EXPECT_EQ(chain.left, 0);
  EXPECT_LT(chain.highest - chain.lowest, 4096u);
}

// The server echoes what it reads, more than fits into the windows, until the caller ends.
TEST_P(LocalCallsTest, StreamCarriesMessagesBothWays) {
  Open();
  std::unique_ptr<ThreadScheduler> callers;
  std::unique_ptr<ThreadScheduler> servers;
  OnLoop([&] { callers = std::make_unique<ThreadScheduler>(*calling_); });
  if (!GetParam()) OnServingLoop([&] { servers = std::make_unique<ThreadScheduler>(*serving_); });
  ThreadScheduler& serving = GetParam() ? *callers : *servers;
  uint64_t call = 0;
  RecordedAnswer answer;
  answer.messages = std::make_shared<MessageStream>(std::make_unique<Outlet>(*calls_, call));
  call = *Call("", &answer, Header(/*stream=*/true));
  OnServingLoop([&] {
    EXPECT_TRUE(serving
                    .Spawn([&] {
                      MessageStream& messages = *requests_.at(0).call->stream();
                      while (true) {
                        auto message = messages.Read(kNever);
                        ASSERT_TRUE(message.ok()) << message.status();
                        if (!message->has_value()) break;
                        EXPECT_TRUE(messages.Write(**std::move(message), kNever).ok());
                      }
                      requests_[0].reply.Send({}, "");
                    })
                    .ok());
  });
  int read_count = 0;
  OnLoop([&] {
    EXPECT_TRUE(callers
                    ->Spawn([&] {
                      for (int i = 0; i < 100; ++i) {
                        const std::string sent(20'000, static_cast<char>('a' + i % 26));
                        ASSERT_TRUE(answer.messages->Write(sent, kNever).ok());
                        if (i < 10) continue;
                        const auto message = answer.messages->Read(kNever);
                        ASSERT_TRUE(message.ok() && message->has_value());
                        EXPECT_EQ((**message)[0], 'a' + read_count % 26);
                        ++read_count;
                      }
                      answer.messages->EndWriting();
                      for (; read_count < 100; ++read_count) {
                        const auto message = answer.messages->Read(kNever);
                        ASSERT_TRUE(message.ok() && message->has_value());
                      }
                    })
                    .ok());
  });
  Run(seconds(1));
  EXPECT_EQ(read_count, 100);
  EXPECT_EQ(answer.code(), StatusCode::kOk);
  EXPECT_EQ(callers->live_count() + serving.live_count(), 0u);
}

TEST_P(LocalCallsTest, StreamsOverTheLimitAreRefused) {
  Open({.stream_count_max = 1});
  std::vector<RecordedAnswer> answers(3);
  for (RecordedAnswer& answer : answers) {
    answer.messages = std::make_shared<MessageStream>(nullptr);
  }
  const auto first = Call("", &answers[0], Header(/*stream=*/true));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(Call("", &answers[1], Header(/*stream=*/true)).status().code(),
            StatusCode::kResourceExhausted);
  OnLoop([&] { calls_->Forget(*first, /*tell_server=*/true); });
  EXPECT_TRUE(Call("", &answers[2], Header(/*stream=*/true)).ok());
  OnLoop([&] { calls_->Close(); });
}

}  // namespace
}  // namespace neptune
