#include "neptune/replication/agent/snapshot_message.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/replication/agent/snapshot_places.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/world/sim/sim_storage.h"

namespace neptune {
namespace {

constexpr size_t kNoLimit = 1u << 30;

LogEntry Write(Lsn lsn, size_t size) {
  return {.lsn = lsn,
          .kind = EntryKind::kCommutativeWrite,
          .origin = {11, lsn},
          .payload = std::string(size, 'x')};
}

ReplicaSnapshot WithLog(Lsn base, size_t entry_count, Lsn data_end) {
  ReplicaSnapshot snapshot;
  snapshot.pieces = {"first", "second"};
  snapshot.base = {data_end, 0};
  snapshot.log = LogCopy{.base = base, .counts = {{11, base}}, .entries = {}};
  for (size_t i = 0; i < entry_count; ++i) {
    snapshot.log->entries.push_back(Write(base + 1 + i, 50'000));
  }
  return snapshot;
}

std::vector<std::string> MessagesOf(const ReplicaSnapshot& snapshot) {
  std::vector<std::string> messages;
  for (const std::string& piece : snapshot.pieces) messages.push_back(EncodeSnapshotPiece(piece));
  for (size_t next = 0; snapshot.log && next < snapshot.log->entries.size();) {
    messages.push_back(EncodeSnapshotLog(snapshot.log->entries, &next));
  }
  messages.push_back(EncodeSnapshotEnd(snapshot));
  return messages;
}

StatusOr<ReplicaSnapshot> Assemble(const std::vector<std::string>& messages,
                                   size_t size_max = kNoLimit) {
  SnapshotAssembly assembly(size_max);
  for (const std::string& message : messages) {
    NEPTUNE_RETURN_IF_ERROR(assembly.Take(message));
  }
  if (!assembly.is_whole()) return Unavailable("not whole");
  return assembly.Release();
}

TEST(SnapshotMessageTest, SnapshotsArriveAsTheyWereSent) {
  ReplicaSnapshot ordered;
  ordered.pieces = {"only"};
  ordered.base = {7, 3};
  ordered.write_set = MemberSet::FirstOf(3);
  const auto taken = Assemble(MessagesOf(ordered));
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->pieces, ordered.pieces);
  EXPECT_EQ(taken->base, ordered.base);
  EXPECT_EQ(taken->write_set, ordered.write_set);
  EXPECT_FALSE(taken->log.has_value());

  const ReplicaSnapshot own = WithLog(20, 9, 25);
  EXPECT_GT(MessagesOf(own).size(), 5u) << "the log is cut";
  const auto taken_too = Assemble(MessagesOf(own));
  ASSERT_TRUE(taken_too.ok()) << taken_too.status();
  EXPECT_EQ(taken_too->log->entries, own.log->entries);
  EXPECT_EQ(taken_too->log->counts, own.log->counts);
  EXPECT_EQ(taken_too->log->base, 20u);
}

TEST(SnapshotMessageTest, DataThatDoNotGoWithTheirLogAreRefused) {
  for (const Lsn end : {19u, 30u}) {
    EXPECT_EQ(Assemble(MessagesOf(WithLog(20, 9, end))).status().code(), StatusCode::kDataLoss);
  }
  for (const Lsn end : {20u, 29u}) EXPECT_TRUE(Assemble(MessagesOf(WithLog(20, 9, end))).ok());
  ReplicaSnapshot gap = WithLog(20, 9, 25);
  gap.log->entries.erase(gap.log->entries.begin() + 3);
  EXPECT_EQ(Assemble(MessagesOf(gap)).status().code(), StatusCode::kDataLoss);
}

TEST(SnapshotMessageTest, WhatIsLostRepeatedOrForeignIsRefused) {
  std::vector<std::string> messages = MessagesOf(WithLog(20, 9, 25));
  std::vector<std::string> lost = messages;
  lost.erase(lost.begin() + 3);
  EXPECT_EQ(Assemble(lost).status().code(), StatusCode::kDataLoss);
  std::vector<std::string> endless(messages.begin(), messages.end() - 1);
  EXPECT_EQ(Assemble(endless).status().code(), StatusCode::kUnavailable);
  for (const std::string& foreign : {std::string(), std::string("X"), std::string("Lx"),
                                     std::string("E"), messages.back() + "x"}) {
    EXPECT_EQ(Assemble({foreign}).status().code(), StatusCode::kDataLoss) << foreign;
  }
  messages.push_back(messages.front());
  EXPECT_EQ(Assemble(messages).status().code(), StatusCode::kDataLoss) << "after the end";
}

TEST(SnapshotMessageTest, TooMuchIsRefusedBeforeItIsHeld) {
  const std::vector<std::string> messages = MessagesOf(WithLog(20, 9, 25));
  size_t size = 0;
  for (const std::string& message : messages) size += message.size();
  EXPECT_TRUE(Assemble(messages, size).ok());
  const Status status = Assemble(messages, size - 1).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(ToStd(status.message()).find(StrCat("more than ", size - 1, " bytes")),
            std::string_view::npos);
}

TEST(SnapshotMessageTest, RequestsNameAPartition) {
  const SnapshotRequest request = {ServiceName("forum"), PartitionId(7)};
  const std::string bytes = EncodeSnapshotRequest(request);
  EXPECT_EQ(DecodeSnapshotRequest(bytes).value(), request);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeSnapshotRequest(bytes.substr(0, size)).status().code(),
              StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(DecodeSnapshotRequest(bytes + "x").ok());
}

TEST(SnapshotMessageTest, DataThatAreTooLargeAreNotHeld) {
  SimStorage storage;
  const WriteFunction put = [](const WriteContext& context, std::string_view request,
                               std::string*) {
    context.changes.Put(StrCat("key ", context.lsn), request);
    return OkStatus();
  };
  auto state = StoreState::Open(*storage.Open("data"), {.writes = {{MethodName("Put"), put}}});
  ASSERT_TRUE(state.ok()) << state.status();
  for (Lsn lsn = 1; lsn <= 10; ++lsn) {
    const LogEntry write = {
        .lsn = lsn, .method = MethodName("Put"), .payload = std::string(100'000, 'x')};
    ASSERT_TRUE((*state)->Apply(write).ok());
  }
  ReplicaSnapshot snapshot;
  const Status refused = CollectPieces(**state, 900'000, &snapshot);
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.message(), "the data are larger than 900000 bytes and are not sent");
  EXPECT_TRUE(snapshot.pieces.empty());
  ASSERT_TRUE(CollectPieces(**state, 1'100'000, &snapshot).ok());
  EXPECT_EQ(snapshot.base.lsn, 10u);
  EXPECT_GT(snapshot.pieces.size(), 7u);
}

TEST(SnapshotPlacesTest, OneMoreThanThereIsRoomForIsRefused) {
  SnapshotPlaces places(2);
  auto first = places.Take("sends");
  const auto second = places.Take("sends");
  ASSERT_TRUE(first.ok() && second.ok());
  const auto copy = *first;
  const Status status = places.Take("sends").status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "this node sends 2 snapshots already");
  first->reset();
  EXPECT_FALSE(places.Take("sends").ok()) << "the copy still holds it";
}

TEST(SnapshotPlacesTest, PlaceIsFreeAgainWhenItsLastHolderIsGone) {
  SnapshotPlaces places(1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(places.Take("takes").ok()) << i;
  }
}

}  // namespace
}  // namespace neptune
