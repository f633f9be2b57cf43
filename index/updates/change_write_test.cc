#include "index/updates/change_write.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "index/updates/map_state.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_storage.h"

namespace search::index {
namespace {

using neptune::LogEntry;
using neptune::StatusCode;
using neptune::StoreState;

LogEntry EntryOf(uint64_t lsn, std::string payload) {
  return {.lsn = lsn,
          .epoch = 1,
          .method = neptune::MethodName(kChangeMethod),
          .payload = std::move(payload)};
}

StatisticsPiece StatisticsOf(uint64_t version) {
  StatisticsPiece head;
  head.set_version(version);
  return head;
}

PartitionChange RandomChange(std::mt19937_64& random, uint64_t version) {
  PartitionChange whole;
  DocumentChange& change = *whole.add_documents();
  change.set_doc_id(random() % 10);
  change.set_version(version + random() % 3);
  if (random() % 4 == 0) {
    change.mutable_removal();
  } else {
    change.mutable_upsert()->set_url("http://a/");
    change.mutable_upsert()->set_text(std::to_string(random()));
  }
  if (random() % 5 == 0) {
    *whole.mutable_statistics() =
        StatisticsChanges(StatisticsOf(version), "statistics")[0].statistics();
  }
  return whole;
}

std::map<std::string, std::string> ContentsOf(const ChangeReader& state) {
  std::map<std::string, std::string> contents;
  EXPECT_TRUE(state
                  .Scan("", "\xff",
                        [&](std::string_view key, std::string_view value) {
                          contents.emplace(key, value);
                          return true;
                        })
                  .ok());
  return contents;
}

// A replica on a disk that loses data that were not synced.
class Replica {
 public:
  Replica() { Open(); }

  void Crash(neptune::RandomSource& random) {
    state_.reset();
    storage_.Crash(random);
    Open();
  }

  StoreState& state() { return *state_; }
  ChangeAnswer Apply(const LogEntry& entry) {
    const auto outcome = state_->Apply(entry);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_TRUE(outcome->status.ok()) << outcome->status;
    ChangeAnswer answer;
    EXPECT_TRUE(answer.ParseFromString(outcome->response));
    return answer;
  }
  std::map<std::string, std::string> contents() const {
    return ContentsOf(StoreReader(&state_->view()));
  }

 private:
  void Open() {
    auto store = storage_.Open("partition");
    ASSERT_TRUE(store.ok()) << store.status();
    auto state = StoreState::Open(
        std::move(*store), {.partition = neptune::PartitionId(0),
                            .writes = {{neptune::MethodName(kChangeMethod), &ExecuteChangeWrite}},
                            .on_change = {}});
    ASSERT_TRUE(state.ok()) << state.status();
    state_ = std::move(*state);
  }

  neptune::SimStorage storage_;
  std::unique_ptr<StoreState> state_;
};

TEST(ChangeWriteTest, ReplicasThatCrashOrBeginWithASnapshotHoldTheSame) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(neptune::StrCat("seed ", seed));
    std::mt19937_64 random(seed);
    neptune::RandomSource chance(seed);
    Replica replica;
    MapState model;
    std::vector<LogEntry> log;
    for (uint64_t lsn = 1; lsn <= 80; ++lsn) {
      const PartitionChange change = RandomChange(random, lsn);
      log.push_back(EntryOf(lsn, change.SerializeAsString()));
      EXPECT_EQ(replica.Apply(log.back()).SerializeAsString(),
                model.Execute(change)->SerializeAsString());
      if (random() % 8 == 0) {
        ASSERT_TRUE(replica.state().Flush().ok());
      }
      if (random() % 8 != 0) continue;
      replica.Crash(chance);
      while (replica.state().completed() < lsn) {
        replica.Apply(log[replica.state().completed()]);
      }
      ASSERT_EQ(replica.contents(), model.entries());
    }
    Replica other;
    ASSERT_TRUE(other.state().BeginRestore().ok());
    const auto source = replica.state().OpenSnapshot();
    ASSERT_TRUE(source.ok()) << source.status();
    while (!(*source)->is_done()) {
      ASSERT_TRUE(other.state().RestorePiece(*(*source)->Next(100)).ok());
    }
    ASSERT_EQ(other.state().EndRestore().value(), (*source)->completed());
    EXPECT_EQ(other.contents(), model.entries());
    EXPECT_EQ(other.state().completed(), 80U);
  }
}

TEST(ChangeWriteTest, MalformedChangeIsRefusedAndChangesNothing) {
  Replica replica;
  const auto outcome = replica.state().Apply(EntryOf(1, "no change"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(replica.contents().size(), 0U);
  EXPECT_EQ(replica.state().completed(), 1U);
}

TEST(ChangeWriteTest, OnlyEntriesOfTheMethodAreChanges) {
  std::mt19937_64 random(1);
  const PartitionChange change = RandomChange(random, 1);
  LogEntry entry = EntryOf(1, change.SerializeAsString());
  ASSERT_TRUE(ChangeOfEntry(entry).has_value());
  EXPECT_EQ(ChangeOfEntry(entry)->SerializeAsString(), change.SerializeAsString());
  EXPECT_FALSE(ChangeOfEntry(EntryOf(1, "no change")).has_value());
  entry.method = neptune::MethodName("Other");
  EXPECT_FALSE(ChangeOfEntry(entry).has_value());
}

}  // namespace
}  // namespace search::index
