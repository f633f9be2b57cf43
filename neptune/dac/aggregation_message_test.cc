// Tasks and answers survive the wire, and bytes that are neither are refused.

#include "neptune/dac/aggregation_message.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

AggregationPlan SomePlan() {
  return {MethodName("Search"), MethodName("Merge"), TimeoutPolicy::kStaged,
          microseconds(250),    milliseconds(2),     0,
          "the query",          "the query"};
}

TreeMember Member(int number, uint16_t child_count, std::vector<uint32_t> partitions) {
  TreeMember member{NodeId(StrCat("s", number)), {kLoopbackAddress, 7000}, {}, child_count};
  for (const uint32_t partition : partitions) member.partitions.emplace_back(partition);
  return member;
}

// s0 ── s1 ── s2
//    └─ s3
std::vector<TreeMember> SomeTree() {
  return {Member(0, 2, {0, 7}), Member(1, 1, {1}), Member(2, 0, {2}), Member(3, 0, {3})};
}

TEST(AggregationMessageTest, TaskKeepsItsPlanAndMembers) {
  for (const bool same_parameters : {true, false}) {
    AggregationPlan plan = SomePlan();
    plan.dissemination = same_parameters ? 0 : 77;
    plan.missing_count_max = same_parameters ? 3 : UINT16_MAX;
    if (!same_parameters) plan.reduce_parameters = "other";
    const auto task = DecodeTask(EncodeTask(plan, SomeTree()));
    ASSERT_TRUE(task.ok()) << task.status();
    EXPECT_EQ(task->plan, plan);
    EXPECT_EQ(task->members, SomeTree());
  }
}

TEST(AggregationMessageTest, DatagramKeepsItsContents) {
  Dissemination sent{ServiceName("index"), "gold", milliseconds(800), {SomePlan(), SomeTree()}};
  EXPECT_EQ(DecodeDissemination(*EncodeDissemination(sent)).status().code(),
            StatusCode::kInvalidArgument);  // without its number
  sent.task.plan.dissemination = 1234;
  const std::string bytes = *EncodeDissemination(sent);
  EXPECT_TRUE(IsDissemination(bytes));
  const auto decoded = DecodeDissemination(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->service, sent.service);
  EXPECT_EQ(decoded->service_class, "gold");
  EXPECT_EQ(decoded->time_left, milliseconds(800));
  EXPECT_EQ(decoded->task.plan, sent.task.plan);
  EXPECT_EQ(decoded->task.members, SomeTree());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeDissemination(bytes.substr(0, size)).ok()) << size;
  }
}

TEST(AggregationMessageTest, TreeTooLargeForADatagramIsRefused) {
  Dissemination sent{ServiceName("index"), "", milliseconds(800), {SomePlan(), SomeTree()}};
  sent.task.plan.local_parameters = std::string(kDisseminationSizeMax, 'x');
  EXPECT_EQ(EncodeDissemination(sent).status().code(), StatusCode::kResourceExhausted);
}

TEST(AggregationMessageTest, ReferenceIsNoTask) {
  EXPECT_EQ(DecodeReference(EncodeReference(99)), 99u);
  EXPECT_FALSE(DecodeTask(EncodeReference(99)).ok());
  EXPECT_EQ(DecodeReference(EncodeTask(SomePlan(), SomeTree())), std::nullopt);
}

TEST(AggregationMessageTest, EqualParametersAreSentOnce) {
  AggregationPlan once = SomePlan();
  once.local_parameters = once.reduce_parameters = std::string(1000, 'x');
  EXPECT_LT(EncodeTask(once, SomeTree()).size(), 1200u);
}

TEST(AggregationMessageTest, SubtreeIsARunOfItsTree) {
  const std::vector<TreeMember> tree = SomeTree();
  EXPECT_EQ(SubtreeLength(tree), 4u);
  EXPECT_EQ(SubtreeLength(std::span(tree).subspan(1)), 2u);
  EXPECT_EQ(SubtreeLength(std::span(tree).subspan(3)), 1u);
}

TEST(AggregationMessageTest, TaskThatContradictsItselfIsRefused) {
  const auto refused = [](std::vector<TreeMember> members) {
    return DecodeTask(EncodeTask(SomePlan(), members)).status().code();
  };
  EXPECT_EQ(refused({}), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({Member(0, 0, {0}), Member(1, 0, {1})}), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({Member(0, 2, {0}), Member(1, 0, {1})}), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({Member(0, 0, {})}), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({Member(0, 1, {5}), Member(1, 0, {5})}), StatusCode::kInvalidArgument);
  std::vector<uint32_t> many(kAggregationPartitionsMax + 1);
  for (uint32_t i = 0; i < many.size(); ++i) many[i] = i;
  EXPECT_EQ(refused({Member(0, 0, many)}), StatusCode::kInvalidArgument);
}

TEST(AggregationMessageTest, TaskCutAnywhereIsRefused) {
  const std::string bytes = EncodeTask(SomePlan(), SomeTree());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeTask(bytes.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(DecodeTask(bytes + "x").ok());
}

TEST(AggregationMessageTest, TaskWithAReservedFlagIsRefused) {
  std::string bytes = EncodeTask(SomePlan(), SomeTree());
  ASSERT_TRUE(DecodeTask(bytes).ok());
  for (const char flag : {2, 16, 32, 64}) {
    std::string changed = bytes;
    changed[1] = static_cast<char>(changed[1] | flag);
    EXPECT_EQ(DecodeTask(changed).status().code(), StatusCode::kDataLoss) << int{flag};
  }
}

AggregationAnswer SomeAnswer() {
  AggregationAnswer answer;
  answer.contributing = {PartitionId(4), PartitionId(1)};
  answer.missing = {{PartitionId(2), DeadlineExceeded("no result by the deadline")}};
  answer.ended_early = {PartitionId(1), PartitionId(2)};
  answer.records = {{.node = NodeId("s1"),
                     .load_index = 3,
                     .processor_count = 4,
                     .pending = milliseconds(70),
                     .local_cost = milliseconds(25),
                     .reduce_cost = milliseconds(5),
                     .queue_time = microseconds(17),
                     .local_end = milliseconds(26),
                     .answered = milliseconds(40),
                     .reducing = microseconds(9'500),
                     .reduction_count = 2,
                     .child_count = 2}};
  answer.result = "the best of both";
  return answer;
}

TEST(AggregationMessageTest, AnswerKeepsWhatItSays) {
  const auto answer = DecodeAnswer(EncodeAnswer(SomeAnswer()));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->contributing, SomeAnswer().contributing);
  ASSERT_EQ(answer->missing.size(), 1u);
  EXPECT_EQ(answer->missing[0].reason, SomeAnswer().missing[0].reason);
  EXPECT_EQ(answer->ended_early, SomeAnswer().ended_early);
  EXPECT_EQ(answer->records, SomeAnswer().records);
  EXPECT_EQ(answer->result, SomeAnswer().result);
  EXPECT_TRUE(answer->reduce_error.ok());
}

TEST(AggregationMessageTest, EmptyResultIsNotNoResult) {
  AggregationAnswer answer = SomeAnswer();
  answer.result = "";
  EXPECT_TRUE(DecodeAnswer(EncodeAnswer(answer))->result.has_value());
  answer.result.reset();
  EXPECT_FALSE(DecodeAnswer(EncodeAnswer(answer))->result.has_value());
}

TEST(AggregationMessageTest, EmptyEndedEarlyListTakesNoBytes) {
  AggregationAnswer answer = SomeAnswer();
  const size_t with = EncodeAnswer(answer).size();
  answer.ended_early.clear();
  const std::string bytes = EncodeAnswer(answer);
  EXPECT_EQ(bytes.size(), with - 2 - 2 * sizeof(uint32_t));
  EXPECT_TRUE(DecodeAnswer(bytes)->ended_early.empty());
}

TEST(AggregationMessageTest, LongReasonIsCut) {
  AggregationAnswer answer = SomeAnswer();
  answer.missing[0].reason = Internal(std::string(5000, 'r'));
  EXPECT_EQ(DecodeAnswer(EncodeAnswer(answer))->missing[0].reason.message().size(), kReasonSizeMax);
}

TEST(AggregationMessageTest, AnswerCutInItsHeadIsRefused) {
  AggregationAnswer answer = SomeAnswer();
  answer.result.reset();
  const std::string bytes = EncodeAnswer(answer);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeAnswer(bytes.substr(0, size)).ok()) << size;
  }
}

}  // namespace
}  // namespace neptune
