#include "neptune/replication/agent/replica_data.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neptune/replication/state/store_state.h"
#include "neptune/thread/simulated_threads.h"

namespace neptune {
namespace {

using Pieces = std::vector<std::string>;

Pieces PiecesOf(SnapshotSource& source) {
  Pieces pieces;
  while (!source.is_done()) pieces.push_back(*source.Next(1u << 20));
  return pieces;
}

LogEntry Put(Lsn lsn, const std::string& request) {
  return {.lsn = lsn, .epoch = 3, .method = MethodName("Put"), .payload = request};
}

LogEntry WriteSet(Lsn lsn) { return {.lsn = lsn, .epoch = 3, .kind = EntryKind::kWriteSet}; }

// The data and the log of a replica on a simulated host. Each write puts its request under "last".
class ReplicaDataTest : public SimulatedThreads {
 protected:
  ReplicaDataTest() : log_(device_, committer_, identity_) {
    Run([this] {
      ASSERT_TRUE(log_.Open().ok());
      ASSERT_TRUE(data_.Open().ok());
      data_.BeginAfter(0);
    });
  }
  ~ReplicaDataTest() override { StopThreads(); }

  void Append(std::vector<LogEntry> entries) {
    const auto change = std::make_shared<LogChange>();
    change->entries = std::move(entries);
    ASSERT_TRUE(log_.Store(change).ok());
  }
  void RestartLog(Lsn base) {
    const auto change = std::make_shared<LogChange>();
    change->restart = LogChange::Restart{.base = {base, 3}, .write_set = MemberSet::FirstOf(2)};
    ASSERT_TRUE(log_.Store(change).ok());
  }
  std::vector<ExecutedEntry> ExecuteSome() {
    StatusOr<std::vector<ExecutedEntry>> executed = data_.ExecuteSome(log_, nullptr);
    EXPECT_TRUE(executed.ok()) << executed.status();
    return executed.ok() ? *std::move(executed) : std::vector<ExecutedEntry>();
  }
  // The data of another member, whose only write has this LSN.
  Pieces SnapshotOf(Lsn lsn) {
    Pieces pieces;
    Run([&] {
      const auto other = OpenState("other");
      ASSERT_TRUE(other.ok()) << other.status();
      ASSERT_TRUE((*other)->Apply(Put(lsn, "z")).ok());
      pieces = PiecesOf(**(*other)->OpenSnapshot());
    });
    return pieces;
  }
  // REQUIRES: the data's mutex is held.
  void Replace(const Pieces& pieces) {
    ASSERT_TRUE(data_.BeginRestore().ok());
    for (const std::string& piece : pieces) ASSERT_TRUE(data_.RestorePiece(piece).ok());
  }
  std::optional<std::string> Last() const {
    return *static_cast<const StoreState*>(data_.state())->view().Get("last");
  }

  StatusOr<std::unique_ptr<ReplicatedState>> OpenState(const std::string& name) {
    const WriteFunction put = [](const WriteContext& context, std::string_view request,
                                 std::string* response) -> Status {
      if (request == "forbidden") return FailedPrecondition("the data forbid it");
      constexpr size_t kLargeSize = 3u << 20;  // a run has room for one
      context.changes.Put("last", request == "large" ? std::string(kLargeSize, 'l') : request);
      *response = "put";
      return OkStatus();
    };
    NEPTUNE_ASSIGN_OR_RETURN(auto store, world_.storage().Open(name));
    NEPTUNE_ASSIGN_OR_RETURN(
        std::unique_ptr<ReplicatedState> state,
        StoreState::Open(std::move(store), {.writes = {{MethodName("Put"), put}}}));
    return state;
  }

  std::atomic<bool> stopping_{false};
  const ReplicaDevice device_{nullptr, ServiceName("forum"), PartitionId(2), stopping_};
  const LogIdentity identity_ = {.cluster = "east",
                                 .service = ServiceName("forum"),
                                 .partition = PartitionId(2),
                                 .node = NodeId("n")};
  LogCommitter committer_{world_.storage(), 1};
  ReplicaLog log_;
  ReplicaData data_{device_, [this] { return OpenState("data"); }};
};

TEST_F(ReplicaDataTest, ExecutesWhatIsAllowedAndNoMore) {
  Run([this] {
    Append({Put(1, "a"), Put(2, "b"), Put(3, "c")});
    EXPECT_TRUE(ExecuteSome().empty()) << "nothing is allowed";
    data_.Allow(2);
    EXPECT_EQ(data_.executable(), 2u);
    const std::vector<ExecutedEntry> executed = ExecuteSome();
    ASSERT_EQ(executed.size(), 2u);
    EXPECT_EQ(executed[1].entry.lsn, 2u);
    EXPECT_EQ(executed[1].outcome.response, "put");
    EXPECT_EQ(data_.executed(), 2u);
    EXPECT_EQ(Last(), "b");
    EXPECT_TRUE(ExecuteSome().empty());
  });
}

TEST_F(ReplicaDataTest, WriteThatTheDataForbidIsExecutedWithItsOutcome) {
  Run([this] {
    Append({Put(1, "a"), Put(2, "forbidden"), Put(3, "c")});
    data_.Allow(3);
    const std::vector<ExecutedEntry> executed = ExecuteSome();
    ASSERT_EQ(executed.size(), 3u);
    EXPECT_EQ(executed[1].outcome.status.code(), StatusCode::kFailedPrecondition);
    EXPECT_TRUE(executed[2].outcome.status.ok());
    EXPECT_EQ(data_.executed(), 3u);
  });
}

TEST_F(ReplicaDataTest, EntriesThatAreNoWritesCountAsExecuted) {
  Run([this] {
    Append({WriteSet(1), Put(2, "a"), WriteSet(3)});
    data_.Allow(3);
    std::vector<Lsn> announced;
    const auto executed = data_.ExecuteSome(log_, [&](const LogEntry& entry) {
      announced.push_back(entry.lsn);
      EXPECT_EQ(Last(), std::nullopt) << "it is not executed yet";
    });
    ASSERT_TRUE(executed.ok()) << executed.status();
    EXPECT_EQ(executed->size(), 3u);
    EXPECT_EQ(announced, std::vector<Lsn>{2});
    EXPECT_EQ(data_.executed(), 3u);
    EXPECT_EQ(data_.state()->completed(), 2u);
  });
}

TEST_F(ReplicaDataTest, LargeWritesAreExecutedInSeveralTurns) {
  Run([this] {
    std::vector<LogEntry> entries;
    for (Lsn lsn = 1; lsn <= 8; ++lsn) entries.push_back(Put(lsn, std::string(100'000, 'x')));
    Append(entries);
    data_.Allow(8);
    Lsn last = 0;
    int turn_count = 0;
    while (data_.executed() < 8) {
      ASSERT_LE(++turn_count, 8);
      for (const ExecutedEntry& executed : ExecuteSome()) EXPECT_EQ(executed.entry.lsn, ++last);
    }
    EXPECT_EQ(last, 8u);
    EXPECT_GT(turn_count, 1);
  });
}

TEST_F(ReplicaDataTest, ManyWritesAreExecutedInSeveralTurns) {
  Run([this] {
    std::vector<LogEntry> entries;
    for (Lsn lsn = 1; lsn <= 600; ++lsn) entries.push_back(Put(lsn, "x"));
    Append(entries);
    data_.Allow(600);
    EXPECT_EQ(ExecuteSome().size(), 512u);
    EXPECT_EQ(ExecuteSome().size(), 88u);
    EXPECT_EQ(data_.executed(), 600u);
  });
}

TEST_F(ReplicaDataTest, WhatHasNoRoomInARunIsExecutedInTheNextOne) {
  Run([this] {
    Append({WriteSet(1), Put(2, "large"), WriteSet(3), Put(4, "large"), Put(5, "a")});
    data_.Allow(5);
    EXPECT_EQ(ExecuteSome().size(), 3u);
    EXPECT_EQ(data_.executed(), 3u);
    EXPECT_EQ(data_.executing_to(), 3u) << "no write after it was begun";
    EXPECT_EQ(ExecuteSome().size(), 2u);
    EXPECT_EQ(data_.executed(), 5u);
    EXPECT_EQ(Last(), "a");
  });
}

TEST_F(ReplicaDataTest, APowerFailureKeepsAllOfARunOrNothing) {
  RandomSource random(7);
  Run([&] {
    for (Lsn first = 1; first <= 40 * 3; first += 3) {
      Append({Put(first, "a"), Put(first + 1, "b"), Put(first + 2, "c")});
      data_.Allow(first + 2);
      ASSERT_EQ(ExecuteSome().size(), 3u);
    }
    world_.sim_storage().Crash(random);
    ReplicaData again(device_, [this] { return OpenState("data"); });
    ASSERT_TRUE(again.Open().ok());
    const Lsn kept = again.state()->completed();
    EXPECT_LT(kept, 40u * 3) << "the crash lost nothing: the test shows nothing";
    EXPECT_EQ(kept % 3, 0u);
  });
}

TEST_F(ReplicaDataTest, DataContainEverythingUpToTheBaseOfTheLog) {
  Run([this] {
    data_.BeginAfter(7);  // the entries up to there were no writes
    EXPECT_EQ(data_.executed(), 7u);
    EXPECT_EQ(data_.executing_to(), 7u);
    data_.BeginAfter(0);
    Append({Put(1, "a"), Put(2, "b")});
    data_.Allow(2);
    (void)ExecuteSome();
    data_.BeginAfter(1);
    EXPECT_EQ(data_.executed(), 2u) << "the data are ahead of the base";
  });
}

TEST_F(ReplicaDataTest, WitnessHasNoData) {
  Run([this] {
    ReplicaData witness(device_, nullptr);
    ASSERT_TRUE(witness.Open().ok());
    witness.BeginAfter(7);
    EXPECT_FALSE(witness.exists());
    EXPECT_EQ(witness.executed(), 0u);
  });
}

TEST_F(ReplicaDataTest, FlushedWritesSurviveAPowerFailure) {
  RandomSource random(5);
  Run([&] {
    Append({Put(1, "a"), Put(2, "b")});
    data_.Allow(2);
    (void)ExecuteSome();
    const StatusOr<Lsn> flushed = data_.Flush();
    ASSERT_TRUE(flushed.ok()) << flushed.status();
    EXPECT_EQ(*flushed, 2u);
    world_.sim_storage().Crash(random);
    ReplicaData again(device_, [this] { return OpenState("data"); });
    ASSERT_TRUE(again.Open().ok());
    EXPECT_EQ(again.state()->completed(), 2u);
  });
}

TEST_F(ReplicaDataTest, FailureToExecuteLeavesThePositionAndTellsWhatTheDataMayContain) {
  Run([this] {
    Append({Put(1, "a"), Put(2, "b")});
    data_.Allow(2);
    world_.sim_storage().FailWrites(ResourceExhausted("the disk is full"));
    EXPECT_EQ(data_.ExecuteSome(log_, nullptr).status().code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(data_.executed(), 0u);
    EXPECT_EQ(data_.executing_to(), 2u);
    world_.sim_storage().FailWrites(OkStatus());
  });
}

TEST_F(ReplicaDataTest, DistrustedDataAreKeptUntilAnEntryOfTheNewLogReplacesThem) {
  Run([this] {
    Append({Put(1, "a"), Put(2, "b")});
    data_.Allow(2);
    (void)ExecuteSome();
    ASSERT_TRUE(log_.Forget().ok());
    data_.Distrust();
    data_.BeginAfter(0);
    EXPECT_EQ(data_.executed(), 0u);
    EXPECT_EQ(Last(), "b") << "an operator may need them";
    EXPECT_EQ(data_.Flush().value(), 0u) << "they count as empty";
    EXPECT_EQ(data_.OpenSnapshot().status().code(), StatusCode::kUnavailable);
    Append({WriteSet(1), Put(2, "c")});
    data_.Allow(1);
    (void)ExecuteSome();
    EXPECT_FALSE(data_.is_distrusted());
    EXPECT_EQ(Last(), std::nullopt);
    data_.Allow(2);
    (void)ExecuteSome();
    EXPECT_EQ(Last(), "c");
  });
}

TEST_F(ReplicaDataTest, DestroyedDataAreEmptyWhenTheyAreOpenedAgain) {
  Run([this] {
    Append({Put(1, "a")});
    data_.Allow(1);
    (void)ExecuteSome();
    ASSERT_TRUE(data_.Destroy().ok());
    EXPECT_FALSE(data_.exists());
    ASSERT_TRUE(data_.Open().ok());
    EXPECT_EQ(data_.state()->completed(), 0u);
    EXPECT_EQ(Last(), std::nullopt);
  });
}

TEST_F(ReplicaDataTest, SnapshotReplacesTheData) {
  Run([this] {
    Append({Put(1, "a"), Put(2, "b"), Put(3, "c"), WriteSet(4)});
    data_.Allow(1);
    (void)ExecuteSome();
    const auto snapshot = data_.OpenSnapshot();
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    EXPECT_EQ((*snapshot)->completed(), 1u);
    data_.Allow(2);
    (void)ExecuteSome();
    EXPECT_EQ(Last(), "b");
    ThreadLock lock(&data_.mutex());
    Replace(PiecesOf(**snapshot));
    EXPECT_EQ(data_.restore_count(), 1u) << "reads in progress must notice";
    ASSERT_TRUE(data_.EndRestore(1).ok());
    EXPECT_EQ(Last(), "a");
    EXPECT_EQ(data_.executed(), 1u);
    EXPECT_EQ(data_.executing_to(), 1u);
    EXPECT_EQ(data_.restore_count(), 1u);
  });
}

TEST_F(ReplicaDataTest, EntriesThatFollowASnapshotAreExecutedOnIt) {
  const Pieces pieces = SnapshotOf(20);
  Run([&] {
    ThreadLock lock(&data_.mutex());
    Replace(pieces);
    ASSERT_TRUE(
        data_.RestoreEntries({Put(21, "x"), WriteSet(22), Put(23, "y"), WriteSet(24)}).ok());
    EXPECT_EQ(data_.state()->completed(), 0u);
    ASSERT_TRUE(data_.EndRestore(24).ok());
    EXPECT_EQ(Last(), "y");
    EXPECT_EQ(data_.executed(), 24u);
    EXPECT_EQ(data_.state()->completed(), 23u) << "the last write";
  });
}

TEST_F(ReplicaDataTest, DataThatCouldNotBeReplacedAreGone) {
  Run([this] {
    Append({Put(1, "a")});
    data_.Allow(1);
    (void)ExecuteSome();
    ThreadLock lock(&data_.mutex());
    ASSERT_TRUE(data_.BeginRestore().ok());
    EXPECT_EQ(data_.RestorePiece("no piece of a snapshot").code(), StatusCode::kDataLoss);
    EXPECT_EQ(data_.state()->completed(), 0u);
  });
}

TEST_F(ReplicaDataTest, NothingIsExecutedIfARestoreHappenedMeanwhile) {
  Run([this] {
    Append({Put(1, "a"), Put(2, "b")});
    data_.Allow(2);
  });
  const Pieces snapshot = SnapshotOf(20);
  Run({[&] {  // holds the data until the other thread waits for them
         ThreadLock lock(&data_.mutex());
         this_thread::Yield();
         Replace(snapshot);
         ASSERT_TRUE(data_.EndRestore(20).ok());
       },
       [&] { EXPECT_TRUE(ExecuteSome().empty()); }});
  EXPECT_EQ(data_.executed(), 20u);
  EXPECT_EQ(Last(), "z");
}

TEST_F(ReplicaDataTest, NothingIsExecutedIfTheLogWasRestartedMeanwhile) {
  Run([this] {
    Append({Put(1, "a"), Put(2, "b"), Put(3, "c")});
    data_.Allow(3);
  });
  const Pieces snapshot = SnapshotOf(1);
  Run({[&] {  // the other member's log, of `write_anywhere`, is shorter
         ThreadLock lock(&data_.mutex());
         this_thread::Yield();
         Replace(snapshot);
         RestartLog(1);
         data_.Allow(1);
         ASSERT_TRUE(data_.EndRestore(1).ok());
       },
       [&] { EXPECT_TRUE(ExecuteSome().empty()); }});
  EXPECT_EQ(data_.executed(), 1u);
}

TEST_F(ReplicaDataTest, AllowedEntriesThatTheLogLacksAreAnError) {
  Run([this] {
    Append({Put(1, "a")});
    ASSERT_TRUE(log_.DropBefore(2).ok());
    data_.Allow(1);
    EXPECT_EQ(data_.ExecuteSome(log_, nullptr).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(data_.executed(), 0u);
  });
}

}  // namespace
}  // namespace neptune
