#include "neptune/wire/call_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

class NoOutlet final : public StreamOutlet {
 public:
  void SendMessage(std::string) override {}
  void SendGrant(uint32_t) override {}
  void SendEnd() override {}
};

class CallTableTest : public testing::Test {
 protected:
  // Passes a request to a handler that does not answer it at once.
  std::shared_ptr<IncomingCall> Pass(uint64_t number) {
    table_.Begin(number);
    auto call = table_.MakeCall();
    call->OnCancel([this, number] { StrAppend(&cancelled_, number, ";"); });
    table_.Returned(number, call, /*open=*/true);
    return call;
  }

  std::string cancelled_;
  CallTable table_{{.in_flight_count_max = 3, .stream_count_max = 1}};
};

TEST_F(CallTableTest, NumbersOfRequestsIncrease) {
  EXPECT_TRUE(table_.IsNext(5));
  EXPECT_FALSE(table_.IsNext(5));
  EXPECT_FALSE(table_.IsNext(4));
  EXPECT_TRUE(table_.IsNext(6));
}

TEST_F(CallTableTest, ACallAnsweredInItsHandlerNeverEntersTheTable) {
  table_.Begin(1);
  auto call = table_.MakeCall();
  EXPECT_TRUE(table_.Contains(1));
  EXPECT_TRUE(table_.Answered(1));
  table_.Returned(1, std::move(call), /*open=*/true);
  EXPECT_FALSE(table_.Contains(1));
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(CallTableTest, AnUntouchedCallIsUsedAgain) {
  const auto answer = [this](uint64_t number, bool touched) {
    table_.Begin(number);
    auto call = table_.MakeCall();
    IncomingCall* const address = call.get();
    if (touched) call->OnCancel([] {});
    table_.Answered(number);
    table_.Returned(number, std::move(call), /*open=*/true);
    return address;
  };
  IncomingCall* const first = answer(1, false);
  EXPECT_EQ(answer(2, true), first);
  table_.Begin(3);
  EXPECT_TRUE(table_.MakeCall()->untouched());
}

TEST_F(CallTableTest, ACallAnsweredLaterIsAnsweredOnce) {
  Pass(1);
  EXPECT_EQ(table_.size(), 1u);
  EXPECT_TRUE(table_.Answered(1));
  EXPECT_FALSE(table_.Answered(1));
  EXPECT_EQ(cancelled_, "");
}

TEST_F(CallTableTest, ACancelledCallIsNotAnswered) {
  const auto call = Pass(1);
  table_.Cancel(1);
  table_.Cancel(2);  // unknown
  EXPECT_TRUE(call->cancelled());
  EXPECT_FALSE(table_.Answered(1));
}

TEST_F(CallTableTest, CancelsAllInTheirOrder) {
  for (const uint64_t number : {9, 4, 7}) Pass(number);
  table_.CancelAll();
  EXPECT_EQ(cancelled_, "4;7;9;");
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(CallTableTest, CancelsACallWhoseConnectionEndedInItsHandler) {
  table_.Begin(1);
  const auto call = table_.MakeCall();
  table_.Returned(1, call, /*open=*/false);
  EXPECT_TRUE(call->cancelled());
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(CallTableTest, LimitsCallsAndStreams) {
  EXPECT_TRUE(table_.CheckLimits(true).ok());
  table_.BeginStream(1, std::make_unique<NoOutlet>());
  EXPECT_TRUE(table_.CheckLimits(false).ok());
  EXPECT_EQ(table_.CheckLimits(true).code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(table_.Answered(1));
  EXPECT_TRUE(table_.CheckLimits(true).ok());
  for (const uint64_t number : {2, 3, 4}) Pass(number);
  EXPECT_EQ(table_.CheckLimits(false).code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace neptune
