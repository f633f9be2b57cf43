#include "tools/history/register_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "neptune/world/random_source.h"

namespace search::history {
namespace {

using neptune::Duration;
using neptune::RandomSource;
using neptune::TimePoint;
using std::chrono::seconds;

RegisterOperation Write(const std::string& text, const std::string& value, int begin, int end) {
  return {.key = "k",
          .is_write = true,
          .text = text,
          .begin = TimePoint(seconds(begin)),
          .end = TimePoint(seconds(end)),
          .is_acknowledged = true,
          .value = value,
          .version = value.size()};
}

RegisterOperation Read(const std::string& value, int begin, int staleness_s) {
  return {.session = 1,
          .key = "k",
          .begin = TimePoint(seconds(begin)),
          .end = TimePoint(seconds(begin)),
          .is_acknowledged = true,
          .value = value,
          .version = value.size(),
          .staleness = seconds(staleness_s)};
}

std::string Check(const std::vector<RegisterOperation>& history, const std::string& contents) {
  return CheckRegisters(history, {{{0, "k"}, contents}}, true);
}

TEST(RegisterHistoryTest, CorrectHistoryIsAccepted) {
  EXPECT_EQ(Check({Write("a;", "a;", 1, 2), Read("a;", 3, 0), Write("b;", "a;b;", 4, 5),
                   Read("a;", 6, 3)},
                  "a;b;"),
            "");
}

TEST(RegisterHistoryTest, UnacknowledgedWriteMayBePresentOrMissing) {
  RegisterOperation lost = Write("a;", "", 1, 2);
  lost.is_acknowledged = false;
  EXPECT_EQ(Check({lost}, ""), "");
  EXPECT_EQ(Check({lost}, "a;"), "");
  EXPECT_NE(Check({lost}, "a;a;"), "");
}

TEST(RegisterHistoryTest, EachViolationIsNamed) {
  EXPECT_NE(Check({Write("a;", "a;", 1, 2)}, "").find("lost"), std::string::npos);
  EXPECT_NE(Check({Write("a;", "a;", 1, 2)}, "a;a;").find("twice"), std::string::npos);
  RegisterOperation unanswered = Write("b;", "", 0, 9);
  unanswered.is_acknowledged = false;
  EXPECT_NE(Check({unanswered, Write("a;", "a;", 1, 2)}, "b;a;").find("its own text ends"),
            std::string::npos);
  EXPECT_NE(Check({Write("a;", "a;", 1, 2), Read("b;", 3, 9)}, "a;").find("not a prefix"),
            std::string::npos);
  EXPECT_NE(Check({Write("a;", "a;", 1, 2), Read("", 9, 3)}, "a;").find("staler"),
            std::string::npos);
  EXPECT_NE(Check({Write("a;", "b;a;", 1, 2), Write("b;", "b;", 3, 4)}, "b;a;").find("began after"),
            std::string::npos);
  EXPECT_NE(
      Check({Write("a;", "a;", 1, 2), Read("a;", 3, 0), Read("", 4, 9)}, "a;").find("less than"),
      std::string::npos);
}

std::string CheckInserted(const std::vector<RegisterOperation>& history,
                          const std::string& contents) {
  return CheckInserts(history, {{{0, "k"}, contents}});
}

TEST(RegisterHistoryTest, InsertsAreSeenInAnyOrder) {
  EXPECT_EQ(CheckInserted({Write("b;", "b;", 1, 2), Write("a;", "a;", 3, 4), Read("", 5, 0),
                           Read("a;b;", 6, 0)},
                          "a;b;"),
            "");
}

TEST(RegisterHistoryTest, InsertsThatAreLostDoubledOrTakenBackAreFound) {
  EXPECT_NE(CheckInserted({Write("a;", "a;", 1, 2)}, ""), "");
  EXPECT_NE(CheckInserted({Write("a;", "a;", 1, 2)}, "a;a;"), "");
  EXPECT_NE(CheckInserted({Write("a;", "", 1, 2)}, "a;"), "");
  EXPECT_NE(CheckInserted({Read("b;", 1, 0)}, "a;"), "");
  EXPECT_NE(CheckInserted({Read("a;a;", 1, 0)}, "a;"), "");
}

TEST(RegisterHistoryTest, TextsThatWereNotWrittenOrOnlyLaterAreFound) {
  EXPECT_NE(Check({Write("a;", "a;", 1, 2)}, "a;b;").find("never written"), std::string::npos);
  EXPECT_NE(Check({Write("a;", "a;", 4, 5), Read("a;", 3, 9)}, "a;").find("began after"),
            std::string::npos);
  EXPECT_NE(CheckInserted({Write("a;", "a;", 1, 2)}, "b;a;").find("never written"),
            std::string::npos);
}

// An independent checker of one register whose texts are single letters with ';': it searches for
// times at which the texts could have been appended, one after another, and checks the guarantees
// of each pair of operations.
class SlowChecker {
 public:
  SlowChecker(const std::vector<RegisterOperation>& history, std::string contents)
      : history_(history), contents_(std::move(contents)) {}

  bool IsRight() const { return AcknowledgedAreThere() && PairsAreRight() && HasTimes({}); }

 private:
  static constexpr int kEnd = 30;
  static int Second(TimePoint time) {
    return static_cast<int>(std::chrono::duration_cast<seconds>(time.time_since_epoch()).count());
  }
  int TextCount() const { return static_cast<int>(contents_.size()) / 2; }

  // Whether the other texts can be appended after those that were appended at `times`.
  bool HasTimes(const std::vector<int>& times) const {
    if (contents_.size() % 2 != 0) return false;
    const int next = static_cast<int>(times.size());
    if (next == TextCount()) return ReadsFit(times);
    for (int time = times.empty() ? 0 : times.back(); time <= kEnd; ++time) {
      std::vector<int> more = times;
      more.push_back(time);
      if (CanBeAt(next, time) && HasTimes(more)) return true;
    }
    return false;
  }
  // Whether each read can have seen what was there at some time of the period that it covers.
  bool ReadsFit(const std::vector<int>& times) const {
    return std::all_of(history_.begin(), history_.end(), [&](const RegisterOperation& operation) {
      if (operation.is_write || !operation.is_acknowledged) return true;
      const size_t count = operation.value.size() / 2;
      int earliest = operation.staleness ? Second(operation.begin - *operation.staleness) : -kEnd;
      int latest = Second(operation.end);
      if (count > 0) earliest = std::max(earliest, times[count - 1]);
      if (count < times.size()) latest = std::min(latest, times[count]);
      return earliest <= latest;
    });
  }
  bool CanBeAt(int place, int time) const {
    const std::string text = contents_.substr(2 * place, 2);
    int writers = 0;
    for (const RegisterOperation& operation : history_) {
      if (operation.is_write && operation.text == text) {
        ++writers;
        if (time < Second(operation.begin)) return false;
        if (operation.is_acknowledged && time > Second(operation.end)) return false;
      }
      // An answer with a text is later than its append.
      const bool has_it =
          operation.is_acknowledged && static_cast<int>(operation.value.size()) >= 2 * (place + 1);
      if (has_it && time > Second(operation.end)) return false;
    }
    return writers == 1;
  }
  bool AcknowledgedAreThere() const {
    for (const RegisterOperation& operation : history_) {
      size_t count = 0;
      for (size_t i = 0; i < contents_.size(); i += 2) {
        count += operation.is_write && contents_.substr(i, 2) == operation.text;
      }
      if (count > 1) return false;
      if (!operation.is_acknowledged) continue;
      if (!contents_.starts_with(operation.value)) return false;
      if (operation.is_write && (count == 0 || !operation.value.ends_with(operation.text))) {
        return false;
      }
    }
    return true;
  }
  bool PairsAreRight() const {
    for (size_t i = 0; i < history_.size(); ++i) {
      for (size_t j = 0; j < history_.size(); ++j) {
        const RegisterOperation& a = history_[i];
        const RegisterOperation& b = history_[j];
        if (!a.is_acknowledged || !b.is_acknowledged) continue;
        const bool are_instants = a.begin == a.end && b.begin == b.end && a.end == b.begin;
        const bool is_later_in_session =
            i != j && a.session == b.session && (are_instants ? i < j : a.end <= b.begin);
        const size_t growth = b.is_write ? 1 : 0;
        if (is_later_in_session &&
            (b.value.size() < a.value.size() + growth || b.version < a.version + growth)) {
          return false;
        }
        if (!a.is_write || b.is_write || !b.staleness) continue;
        if (a.end < b.begin - *b.staleness && b.version < a.version) return false;
      }
    }
    return true;
  }

  const std::vector<RegisterOperation>& history_;
  const std::string contents_;
};

// A possible history of a register; some answers are lost, and some of their texts are appended
// late or never.
struct MadeHistory {
  std::vector<RegisterOperation> history;
  std::string contents;
};

MadeHistory RandomHistory(RandomSource& random) {
  MadeHistory made;
  std::vector<std::pair<int, std::string>> late;  // texts that come at this time
  std::map<size_t, int> appended_at;              // by how long the register then was
  int now = 1;
  const int count = 1 + static_cast<int>(random.Below(6));
  const auto append = [&](const std::string& text) {
    made.contents += text;
    appended_at[made.contents.size()] = now;
  };
  for (int i = 0; i < count; ++i) {
    now += static_cast<int>(random.Below(3));
    for (auto& [time, text] : late) {
      if (time <= now && !text.empty()) append(std::exchange(text, ""));
    }
    const int before = static_cast<int>(random.Below(2));
    const int after = static_cast<int>(random.Below(3));
    const std::string text = {static_cast<char>('a' + i), ';'};
    if (random.Below(2) == 0) {
      RegisterOperation read = Read(made.contents, now - before, 0);
      read.session = static_cast<int>(random.Below(2));
      read.end = TimePoint(seconds(now + after));
      if (random.Below(4) == 0) read.staleness.reset();
      made.history.push_back(read);
    } else if (random.Below(3) > 0) {
      append(text);
      made.history.push_back(Write(text, made.contents, now - before, now + after));
      made.history.back().session = static_cast<int>(random.Below(2));
    } else {
      made.history.push_back(Write(text, "", now - before, 29));
      made.history.back().is_acknowledged = false;
      if (random.Below(2) == 0) append(text);
      if (random.Below(2) == 0 && !made.contents.ends_with(text)) {
        late.emplace_back(now + 1 + static_cast<int>(random.Below(4)), text);
      }
    }
  }
  return made;
}

void Plant(RandomSource& random, MadeHistory* made) {
  RegisterOperation& one = made->history[random.Below(made->history.size())];
  const Duration second = seconds(1);
  switch (random.Below(9)) {
    case 0:
      if (!made->contents.empty()) made->contents.resize(made->contents.size() - 2);
      break;
    case 1:
      made->contents += random.Below(2) == 0 ? "z;" : one.text;
      break;
    case 2:
      if (made->contents.size() >= 4) std::swap(made->contents[0], made->contents[2]);
      break;
    case 3:
      if (!one.value.empty()) one.value.resize(one.value.size() - 2);
      one.version = one.value.size();
      break;
    case 4:
      one.value = made->contents;
      one.version = one.value.size();
      break;
    case 5:
      one.begin += static_cast<int>(random.Below(5)) * second;
      one.end = std::max(one.end, one.begin);
      break;
    case 6:
      one.end = std::max(one.begin, one.end - static_cast<int>(random.Below(5)) * second);
      break;
    case 7:
      one.version += random.Below(3);
      break;
    default:
      one.session = 1 - one.session;
  }
}

TEST(RegisterHistoryTest, AgreesWithACheckerThatTriesAllTimes) {
  int right_count = 0;
  int wrong_count = 0;
  for (uint64_t seed = 1; seed <= 10'000; ++seed) {
    RandomSource random(seed);
    MadeHistory made = RandomHistory(random);
    for (uint64_t planted = random.Below(3); planted > 0; --planted) Plant(random, &made);
    const std::string wrong = Check(made.history, made.contents);
    const bool is_right = SlowChecker(made.history, made.contents).IsRight();
    ASSERT_EQ(wrong.empty(), is_right) << "seed " << seed << ": " << wrong;
    ++(is_right ? right_count : wrong_count);
  }
  EXPECT_GT(right_count, 2000);
  EXPECT_GT(wrong_count, 2000);
}

}  // namespace
}  // namespace search::history
