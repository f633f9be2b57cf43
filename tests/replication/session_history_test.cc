#include "tests/replication/session_history.h"

#include <gtest/gtest.h>

#include "neptune/world/random_source.h"

namespace neptune::replication_tests {
namespace {

TimePoint At(int64_t time) { return TimePoint(Duration(time)); }

SessionOperation Read(uint64_t version, int64_t invoked, int64_t returned) {
  return {.session = 1, .version = version, .invoked = At(invoked), .returned = At(returned)};
}

SessionOperation Write(uint64_t version, int64_t invoked, int64_t returned) {
  SessionOperation write = Read(version, invoked, returned);
  write.is_write = true;
  return write;
}

std::vector<SessionFault> FaultsOf(const std::vector<SessionOperation>& history,
                                   const std::vector<AcknowledgedVersion>& acknowledged = {}) {
  std::vector<SessionFault> faults;
  for (const FoundSessionFault& found : JudgeSessions(history, acknowledged)) {
    faults.push_back(found.fault);
  }
  return faults;
}

TEST(SessionHistoryTest, VersionsThatGrowAreFine) {
  EXPECT_TRUE(FaultsOf({Read(1, 0, 1), Read(1, 2, 3), Write(2, 4, 5), Read(2, 6, 7)}).empty());
}

TEST(SessionHistoryTest, OlderVersionIsFound) {
  EXPECT_EQ(FaultsOf({Read(2, 0, 1), Read(1, 1, 2)}),
            std::vector<SessionFault>{SessionFault::kVersionWentBack});
}

TEST(SessionHistoryTest, MissingOwnWriteIsFound) {
  EXPECT_EQ(FaultsOf({Write(2, 0, 1), Read(1, 1, 2)}),
            std::vector<SessionFault>{SessionFault::kOwnWriteMissing});
}

TEST(SessionHistoryTest, WriteIsAboveWhatWasSeen) {
  EXPECT_EQ(FaultsOf({Read(2, 0, 1), Write(2, 1, 2)}),
            std::vector<SessionFault>{SessionFault::kVersionWentBack});
}

TEST(SessionHistoryTest, OverlappingReadsAndOtherSessionsAreFree) {
  SessionOperation other = Read(1, 5, 6);
  other.session = 2;
  EXPECT_TRUE(FaultsOf({Read(2, 0, 4), Read(1, 3, 5), other}).empty());
}

TEST(SessionHistoryTest, StalenessIsJudgedByWhatWasAcknowledged) {
  SessionOperation read = Read(1, 100, 110);
  read.reported_staleness = Duration(20);
  EXPECT_TRUE(FaultsOf({read}, {{1, At(0)}, {2, At(80)}}).empty());
  EXPECT_EQ(FaultsOf({read}, {{1, At(0)}, {2, At(79)}}),
            std::vector<SessionFault>{SessionFault::kStalenessUnderstated});
  EXPECT_EQ(FaultsOf({read}, {{2, At(79)}, {1, At(79)}}),
            std::vector<SessionFault>{SessionFault::kStalenessUnderstated});
}

// The definition, pair by pair.
std::vector<FoundSessionFault> Naive(const std::vector<SessionOperation>& history,
                                     const std::vector<AcknowledgedVersion>& acknowledged) {
  std::vector<FoundSessionFault> faults;
  for (size_t i = 0; i < history.size(); ++i) {
    const SessionOperation& now = history[i];
    bool went_back = false, misses_own = false, understates = false;
    for (const SessionOperation& before : history) {
      if (before.session != now.session || before.returned > now.invoked || &before == &now)
        continue;
      went_back |= now.version < before.version || (now.is_write && now.version == before.version);
      misses_own |= before.is_write && now.version < before.version;
    }
    for (const AcknowledgedVersion& known : acknowledged) {
      understates |= now.reported_staleness && known.version > now.version &&
                     known.at < now.invoked - *now.reported_staleness;
    }
    if (misses_own) {
      faults.push_back({SessionFault::kOwnWriteMissing, i});
    } else if (went_back) {
      faults.push_back({SessionFault::kVersionWentBack, i});
    } else if (understates) {
      faults.push_back({SessionFault::kStalenessUnderstated, i});
    }
  }
  return faults;
}

TEST(SessionHistoryTest, AgreesWithTheDefinition) {
  size_t fault_count = 0;
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    RandomSource random(seed);
    std::vector<SessionOperation> history;
    std::vector<AcknowledgedVersion> acknowledged;
    for (uint64_t i = random.Below(15); i > 0; --i) {
      const auto invoked = static_cast<int64_t>(random.Below(60));
      SessionOperation operation =
          Read(1 + invoked / 4 + random.Below(6), invoked, invoked + 1 + random.Below(8));
      operation.session = random.Below(3);
      operation.is_write = random.Below(3) == 0;
      if (random.Below(2) == 0) operation.reported_staleness = Duration(random.Below(20));
      history.push_back(operation);
      acknowledged.push_back({random.Below(16), At(random.Below(60))});
    }
    const auto found = JudgeSessions(history, acknowledged);
    const auto expected = Naive(history, acknowledged);
    ASSERT_EQ(found.size(), expected.size()) << "seed " << seed;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].operation, expected[i].operation) << "seed " << seed;
      ASSERT_EQ(found[i].fault, expected[i].fault) << "seed " << seed;
    }
    fault_count += found.size();
  }
  EXPECT_GT(fault_count, 1000u);
}

}  // namespace
}  // namespace neptune::replication_tests
