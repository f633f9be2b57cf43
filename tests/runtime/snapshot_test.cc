// Members that are filled by another one's data, many times larger than a chunk and than the log,
// on whole nodes of a simulated cluster.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "neptune/base/strings.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/world/sim/sim_world.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kSmallLog[] = "level: 'ordered_writes' log_entries_kept: 50 log_size_max_mib: 1";
constexpr size_t kLogSizeMax = 1u << 20;
constexpr int kKeyCount = 600;
constexpr size_t kValueSize = 20'000;  // 12 MB of data

class SnapshotTest : public ReplicatedRegistersTest {
 protected:
  // s2 is slower than the others, so that writes continue while it is filled.
  void Fill(const std::string& fields, uint64_t seed = 1, int node_count = 3) {
    Start(node_count, fields, seed,
          [](const std::string& node) { return milliseconds(node == "s2" ? 10 : 1); });
    InSession(
        [this](ReplicaSession& session) {
          while (write_count_ < kKeyCount) EXPECT_TRUE(WriteNext(session).ok());
        },
        seconds(600));
    EXPECT_LE(Agent("s0")->status().log_size, kLogSizeMax / 5 * 6);
  }
  Status WriteNext(ReplicaSession& session) {
    const std::string write = StrCat(++write_count_, "=", std::string(kValueSize, 'x'));
    return Append(session, write, seconds(20)).status();
  }
  // Writes until EndWriting, two at a time, without a pause.
  void BeginWriting() {
    is_writing_ = true;
    for (writer_count_ = 0; writer_count_ < 2; ++writer_count_) {
      cluster_->SpawnOnClient([this](ClientSession& session) {
        ReplicaSession replicas(session);
        while (is_writing_) EXPECT_TRUE(WriteNext(replicas).ok());
        --writer_count_;
      });
    }
  }
  void EndWriting() {
    is_writing_ = false;
    const TimePoint end = simulator().now() + seconds(60);
    EXPECT_TRUE(simulator().RunUntilTrue([this] { return writer_count_ == 0; }, end));
  }
  void FillAnew(const std::string& node) {
    simulator().Crash(node);
    LoseDisk(node);
    simulator().RunFor(milliseconds(100));
    Restart(node);
  }
  // Runs until the node has its replicas, for Agent.
  void Restart(const std::string& node) {
    simulator().Restart(node);
    simulator().RunFor(milliseconds(50));
  }
  bool RunUntil(const std::function<bool()>& is_true, Duration limit = seconds(120)) {
    return simulator().RunUntilTrue(
        [&] {
          if (cluster_->lives("s0")) Watch();
          return is_true();
        },
        simulator().now() + limit);
  }
  void Watch() {
    if (Agent("s0") == nullptr) return;
    largest_log_ = std::max(largest_log_, Agent("s0")->status().log_size);
  }
  bool IsFilled(const std::string& node, uint64_t times = 1) {
    if (!cluster_->lives(node) || Agent(node) == nullptr) return false;
    const ReplicaAgent::State state = Agent(node)->status();
    return state.snapshots_taken >= times && !state.is_restoring;
  }
  bool HasChunks(const std::string& node, uint64_t count) {
    return cluster_->lives(node) && Agent(node) != nullptr &&
           Agent(node)->status().restored_chunk_count >= count;
  }
  std::map<std::string, size_t> ContentsOf(const std::string& node) {
    std::map<std::string, size_t> contents;
    const auto* const state = static_cast<const StoreState*>(Agent(node)->state());
    EXPECT_TRUE(state->view()
                    .Scan({},
                          [&](std::string_view key, std::string_view value) {
                            contents.emplace(key, value.size());
                            return true;
                          })
                    .ok());
    return contents;
  }
  void ExpectAllTheSame() {
    simulator().RunFor(seconds(10));
    const auto contents = ContentsOf("s1");
    EXPECT_EQ(contents.size(), static_cast<size_t>(write_count_));
    for (const auto& [key, size] : contents) EXPECT_EQ(size, kValueSize) << key;
    EXPECT_EQ(ContentsOf("s0"), contents);
    EXPECT_EQ(ContentsOf("s2"), contents);
    for (const char* node : {"s0", "s1", "s2"}) {
      EXPECT_TRUE(Agent(node)->status().failure.ok()) << Agent(node)->status().failure;
    }
  }

  int write_count_ = 0;
  bool is_writing_ = false;
  int writer_count_ = 0;
  size_t largest_log_ = 0;
};

TEST_F(SnapshotTest, OneSnapshotIsEnoughThoughWritesOutgrowTheLogMeanwhile) {
  Fill(kSmallLog);
  BeginWriting();
  FillAnew("s2");
  ASSERT_TRUE(RunUntil([&] { return HasChunks("s2", 3); }));
  const int before = write_count_;
  EXPECT_TRUE(Agent("s2")->status().restoring_since.has_value());
  EXPECT_EQ(Agent("s0")->status().snapshots_sending, 1);
  ASSERT_TRUE(RunUntil([&] { return IsFilled("s2"); }));
  const int meanwhile = write_count_ - before;
  EXPECT_GT(meanwhile * kValueSize, 2 * kLogSizeMax)
      << meanwhile << " writes: the log was not full";
  RunUntil([] { return false; }, seconds(10));
  EndWriting();
  EXPECT_EQ(Agent("s0")->status().snapshots_sent, 1u);
  EXPECT_EQ(Agent("s2")->status().snapshots_taken, 1u);
  EXPECT_LE(largest_log_, kLogSizeMax / 5 * 6);
  ExpectAllTheSame();
}

TEST_F(SnapshotTest, AnotherMemberFillsItIfTheSenderDies) {
  Fill(kSmallLog, 1, /*node_count=*/5);
  BeginWriting();
  FillAnew("s2");
  ASSERT_TRUE(RunUntil([&] { return HasChunks("s2", 4); }));
  simulator().Crash("s0");
  ASSERT_TRUE(RunUntil([&] { return IsFilled("s2"); }));
  simulator().RunFor(seconds(1));  // the sender hears of the end
  EXPECT_EQ(Agent("s1")->status().snapshots_sent, 1u);
  Restart("s0");
  RunUntil([] { return false; }, seconds(10));
  EndWriting();
  ExpectAllTheSame();
}

TEST_F(SnapshotTest, ReceiverThatDiesBeginsAgain) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    write_count_ = 0;
    Fill(kSmallLog, seed);
    FillAnew("s2");
    ASSERT_TRUE(RunUntil([&] { return HasChunks("s2", 2 + 2 * seed); })) << "seed " << seed;
    simulator().Crash("s2");
    simulator().RunFor(milliseconds(500));
    Restart("s2");
    ASSERT_TRUE(RunUntil([&] { return IsFilled("s2"); })) << "seed " << seed;
    ExpectAllTheSame();
  }
}

TEST_F(SnapshotTest, ReceiverThatIsCutOffGoesOnWithTheSameTransfer) {
  Fill(kSmallLog);
  FillAnew("s2");
  ASSERT_TRUE(RunUntil([&] { return HasChunks("s2", 4); }));
  simulator().Partition({"s2"}, {"s0", "s1"});
  simulator().RunFor(seconds(6));
  const uint64_t chunk_count = Agent("s2")->status().restored_chunk_count;
  EXPECT_GE(chunk_count, 4u);
  simulator().HealAll();
  ASSERT_TRUE(RunUntil([&] { return IsFilled("s2"); }));
  const ReplicaAgent::State state = Agent("s2")->status();
  EXPECT_EQ(state.snapshot_size_taken, state.restored_size) << "nothing came twice";
  simulator().RunFor(seconds(1));  // the sender hears of the end
  EXPECT_EQ(Agent("s0")->status().snapshots_sent, 1u);
  ExpectAllTheSame();
}

TEST_F(SnapshotTest, MemberThatWasAwayForTooLongIsUnavailableOnlyWhileItIsFilled) {
  Fill(kSmallLog);
  simulator().Partition({"s2"}, {"s0", "s1", "c"});
  simulator().RunFor(seconds(1));
  InSession([this](ReplicaSession& session) {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(WriteNext(session).ok());
  });
  simulator().HealAll();
  ASSERT_TRUE(RunUntil([&] { return IsFilled("s2"); }));
  ExpectAllTheSame();
  EXPECT_EQ(Agent("s2")->status().role, ReplicaRole::kSecondary);
}

TEST_F(SnapshotTest, LogOfLevelOneComesWithTheData) {
  // Its log keeps everything while a member is away, so that it is small here.
  Start(3, "level: 'write_anywhere' log_entries_kept: 50 log_size_max_mib: 16", 1,
        [](const std::string&) { return milliseconds(1); });
  InSession([this](ReplicaSession& session) {
    for (int i = 0; i < 200; ++i) EXPECT_TRUE(WriteNext(session).ok());
  });
  simulator().RunFor(seconds(5));
  BeginWriting();
  FillAnew("s2");
  ASSERT_TRUE(RunUntil([&] { return IsFilled("s2"); }));
  EndWriting();
  ExpectAllTheSame();
}

}  // namespace
}  // namespace neptune
