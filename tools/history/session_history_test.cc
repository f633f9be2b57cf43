#include "tools/history/session_history.h"

#include <gtest/gtest.h>

#include "neptune/world/random_source.h"

namespace search::history {
namespace {

using neptune::Duration;
using neptune::RandomSource;
using neptune::TimePoint;

TimePoint At(int64_t time) { return TimePoint(Duration(time)); }

SessionOperation Read(uint64_t version, int64_t invoked, int64_t returned) {
  return {.session = 1, .version = version, .invoked = At(invoked), .returned = At(returned)};
}

SessionOperation Write(uint64_t version, int64_t invoked, int64_t returned) {
  SessionOperation write = Read(version, invoked, returned);
  write.is_write = true;
  return write;
}

std::vector<SessionRule> RulesBroken(const std::vector<SessionOperation>& history,
                                     const std::vector<AcknowledgedVersion>& acknowledged = {}) {
  std::vector<SessionRule> violations;
  for (const SessionViolation& found : CheckSessions(history, acknowledged)) {
    violations.push_back(found.rule);
  }
  return violations;
}

TEST(SessionHistoryTest, GrowingVersionsAreAccepted) {
  EXPECT_TRUE(RulesBroken({Read(1, 0, 1), Read(1, 2, 3), Write(2, 4, 5), Read(2, 6, 7)}).empty());
}

TEST(SessionHistoryTest, OlderVersionIsFound) {
  EXPECT_EQ(RulesBroken({Read(2, 0, 1), Read(1, 1, 2)}),
            std::vector<SessionRule>{SessionRule::kVersionWentBack});
}

TEST(SessionHistoryTest, MissingOwnWriteIsFound) {
  EXPECT_EQ(RulesBroken({Write(2, 0, 1), Read(1, 1, 2)}),
            std::vector<SessionRule>{SessionRule::kOwnWriteMissing});
}

TEST(SessionHistoryTest, WriteMustExceedTheVersionSeen) {
  EXPECT_EQ(RulesBroken({Read(2, 0, 1), Write(2, 1, 2)}),
            std::vector<SessionRule>{SessionRule::kVersionWentBack});
}

TEST(SessionHistoryTest, OverlappingReadsAndOtherSessionsMaySeeOlderVersions) {
  SessionOperation other = Read(1, 5, 6);
  other.session = 2;
  EXPECT_TRUE(RulesBroken({Read(2, 0, 4), Read(1, 3, 5), other}).empty());
}

TEST(SessionHistoryTest, StalenessIsCheckedAgainstAcknowledgedVersions) {
  SessionOperation read = Read(1, 100, 110);
  read.reported_staleness = Duration(20);
  EXPECT_TRUE(RulesBroken({read}, {{1, At(0)}, {2, At(80)}}).empty());
  EXPECT_EQ(RulesBroken({read}, {{1, At(0)}, {2, At(79)}}),
            std::vector<SessionRule>{SessionRule::kStalenessUnderstated});
  EXPECT_EQ(RulesBroken({read}, {{2, At(79)}, {1, At(79)}}),
            std::vector<SessionRule>{SessionRule::kStalenessUnderstated});
}

// The definition, pair by pair.
std::vector<SessionViolation> Naive(const std::vector<SessionOperation>& history,
                                    const std::vector<AcknowledgedVersion>& acknowledged) {
  std::vector<SessionViolation> violations;
  for (size_t i = 0; i < history.size(); ++i) {
    const SessionOperation& now = history[i];
    bool went_back = false, misses_own = false, understates = false;
    for (size_t j = 0; j < history.size(); ++j) {
      const SessionOperation& before = history[j];
      if (j == i || before.session != now.session || before.returned > now.invoked) continue;
      const bool is_one_instant = before.invoked == now.invoked && before.returned == now.invoked &&
                                  now.returned == now.invoked;
      if (is_one_instant && j > i) continue;  // the order in the history decides
      went_back |= now.version < before.version || (now.is_write && now.version == before.version);
      misses_own |= before.is_write && now.version < before.version;
    }
    for (const AcknowledgedVersion& known : acknowledged) {
      understates |= now.reported_staleness && known.version > now.version &&
                     known.at < now.invoked - *now.reported_staleness;
    }
    if (misses_own) {
      violations.push_back({SessionRule::kOwnWriteMissing, i});
    } else if (went_back) {
      violations.push_back({SessionRule::kVersionWentBack, i});
    } else if (understates) {
      violations.push_back({SessionRule::kStalenessUnderstated, i});
    }
  }
  return violations;
}

TEST(SessionHistoryTest, AgreesWithTheDefinition) {
  size_t violation_count = 0;
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    RandomSource random(seed);
    std::vector<SessionOperation> history;
    std::vector<AcknowledgedVersion> acknowledged;
    for (uint64_t i = random.Below(15); i > 0; --i) {
      const auto invoked = static_cast<int64_t>(random.Below(60));
      SessionOperation operation =
          Read(1 + invoked / 4 + random.Below(6), invoked, invoked + random.Below(9));
      operation.session = random.Below(3);
      operation.is_write = random.Below(3) == 0;
      if (random.Below(2) == 0) operation.reported_staleness = Duration(random.Below(20));
      history.push_back(operation);
      acknowledged.push_back({random.Below(16), At(random.Below(60))});
    }
    const auto found = CheckSessions(history, acknowledged);
    const auto expected = Naive(history, acknowledged);
    ASSERT_EQ(found.size(), expected.size()) << "seed " << seed;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].operation, expected[i].operation) << "seed " << seed;
      ASSERT_EQ(found[i].rule, expected[i].rule) << "seed " << seed;
    }
    violation_count += found.size();
  }
  EXPECT_GT(violation_count, 1000u);
}

}  // namespace
}  // namespace search::history
