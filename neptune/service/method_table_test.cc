#include "neptune/service/method_table.h"

#include <gtest/gtest.h>

#include "neptune/wire/incoming_call.h"

namespace neptune {
namespace {

class MethodTableTest : public testing::Test {
 protected:
  MethodTableTest() : table_(ServiceName("shop"), {PartitionId(1), PartitionId(2)}, metrics_) {
    const MethodFunction nothing = [](RequestContext&, const Data&, Data*) { return OkStatus(); };
    table_.Add(MethodName("Look"), {}, nothing);
    table_.Add(MethodName("Buy"), {.access = AccessMode::kWrite, .stateless = false}, nothing);
    table_.AddStream(MethodName("Watch"), {},
                     [](RequestContext&, const Data&, ServerStream&) { return OkStatus(); });
  }

  static IncomingRequest RequestFor(const char* method) {
    IncomingRequest request;
    request.header.method = MethodName(method);
    request.header.partition = PartitionId(2);
    return request;
  }
  StatusCode CodeOf(const IncomingRequest& request) const {
    return table_.Find(request).status.code();
  }

  MetricsRegistry metrics_;
  MethodTable table_;
};

TEST_F(MethodTableTest, FindsARegisteredMethod) {
  const MethodTable::Found found = table_.Find(RequestFor("Look"));
  EXPECT_TRUE(found.status.ok()) << found.status;
  ASSERT_NE(found.method, nullptr);
  EXPECT_EQ(found.method->name, "Look");
  EXPECT_FALSE(found.method->streams());
}

TEST_F(MethodTableTest, NotesTheMethodForRequestsWithTheSameNames) {
  IncomingRequest request = RequestFor("Look");
  HandlerNote note;
  request.note = &note;
  const ServedMethod* const look = table_.Find(request).method;
  EXPECT_EQ(note.method, look);
  EXPECT_EQ(table_.Find(request).method, look);
  request.header.partition = PartitionId(7);
  EXPECT_EQ(CodeOf(request), StatusCode::kUnavailable) << "each request is checked";
}

TEST_F(MethodTableTest, AnUnknownMethodIsUnimplemented) {
  const MethodTable::Found found = table_.Find(RequestFor("Steal"));
  EXPECT_EQ(found.method, nullptr);
  EXPECT_EQ(found.status.code(), StatusCode::kUnimplemented);
}

TEST_F(MethodTableTest, AWriteCalledAsAReadIsInvalid) {
  IncomingRequest request = RequestFor("Buy");
  const MethodTable::Found found = table_.Find(request);
  EXPECT_EQ(found.status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(found.method, nullptr) << "the refusal counts for the method";
  request.header.access = AccessMode::kWrite;
  EXPECT_TRUE(table_.Find(request).status.ok());
}

TEST_F(MethodTableTest, AStreamIsOpenedAndAMethodIsCalled) {
  IncomingRequest stream = RequestFor("Watch");
  EXPECT_EQ(CodeOf(stream), StatusCode::kInvalidArgument);
  stream.header.stream = true;
  EXPECT_EQ(CodeOf(stream), StatusCode::kOk);
  IncomingRequest method = RequestFor("Look");
  method.header.stream = true;
  EXPECT_EQ(CodeOf(method), StatusCode::kInvalidArgument);
}

TEST_F(MethodTableTest, APartitionThatIsElsewhereIsUnavailable) {
  IncomingRequest request = RequestFor("Look");
  request.header.partition = PartitionId(3);
  EXPECT_EQ(CodeOf(request), StatusCode::kUnavailable);
}

TEST_F(MethodTableTest, ARequestThatArrivesLateIsExpired) {
  IncomingRequest request = RequestFor("Look");
  request.received = TimePoint(std::chrono::seconds(5));
  request.deadline = request.received;
  EXPECT_EQ(CodeOf(request), StatusCode::kDeadlineExceeded);
}

TEST_F(MethodTableTest, MethodsOfOneNodeHaveNumbersOfTheirOwn) {
  const uint64_t look = table_.Find(RequestFor("Look")).method->number;
  EXPECT_NE(look, table_.Find(RequestFor("Buy")).method->number);
  MetricsRegistry metrics;
  MethodTable other(ServiceName("bank"), {PartitionId(2)}, metrics);
  other.Add(MethodName("Look"), {}, [](RequestContext&, const Data&, Data*) { return OkStatus(); });
  EXPECT_NE(look, other.Find(RequestFor("Look")).method->number);
}

TEST_F(MethodTableTest, OnlyAStatelessReadMayBeEndedEarly) {
  EXPECT_TRUE(table_.Find(RequestFor("Look")).method->may_be_ended_early());
  EXPECT_FALSE(table_.Find(RequestFor("Buy")).method->may_be_ended_early());
}

using MethodTableDeathTest = MethodTableTest;

TEST_F(MethodTableDeathTest, ANameIsRegisteredOnce) {
  EXPECT_DEATH(table_.Add(MethodName("Look"), {}, nullptr), "method Look registered twice");
}

TEST_F(MethodTableDeathTest, AWriteHasState) {
  EXPECT_DEATH(
      table_.Add(MethodName("Put"), {.access = AccessMode::kWrite, .stateless = true}, nullptr),
      "cannot be stateless");
}

TEST_F(MethodTableDeathTest, OnlyAShortMethodNeverParks) {
  EXPECT_DEATH(table_.Add(MethodName("Long"), {.grain = Grain::kLong, .parks = false}, nullptr),
               "method Long is long and so may wait");
  EXPECT_DEATH(table_.AddStream(MethodName("Feed"), {.parks = false}, nullptr),
               "stream method Feed waits for messages");
}

TEST_F(MethodTableDeathTest, AStreamOnlyReads) {
  EXPECT_DEATH(table_.AddStream(MethodName("Feed"),
                                {.access = AccessMode::kWrite, .stateless = false}, nullptr),
               "stream method Feed writes");
}

}  // namespace
}  // namespace neptune
