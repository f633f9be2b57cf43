// Compares the checkers with trying all orders of small histories, which are generated linearizable
// and, in part, changed afterwards.

#include "tools/history/linearizability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"
#include "tools/history/key_history.h"
#include "tools/history/log_history.h"

namespace search::history {
namespace {

using neptune::Duration;
using neptune::kNever;
using neptune::RandomSource;
using neptune::StrCat;
using neptune::TimePoint;

TimePoint At(int64_t time) { return TimePoint(Duration(time)); }

// Tries all orders. `step` executes an operation on a copy of the state, or returns false if that
// is impossible.
template <typename Operation, typename State>
bool HasOrder(const std::vector<Operation>& operations, std::vector<bool>& done, const State& state,
              const std::function<bool(const Operation&, State*)>& step) {
  TimePoint first_return = kNever;
  for (size_t i = 0; i < operations.size(); ++i) {
    if (!done[i]) first_return = std::min(first_return, operations[i].returned);
  }
  if (first_return == kNever) return true;  // the others need not have taken effect
  for (size_t i = 0; i < operations.size(); ++i) {
    if (done[i] || operations[i].invoked > first_return) continue;
    State after = state;
    if (!step(operations[i], &after)) continue;
    done[i] = true;
    const bool has_order = HasOrder(operations, done, after, step);
    done[i] = false;
    if (has_order) return true;
  }
  return false;
}

using Register = std::optional<std::string>;

bool StepKey(const KeyOperation& operation, Register* state) {
  const bool is_known = operation.returned != kNever;
  switch (operation.kind) {
    case KeyOperation::Kind::kRead:
      return !is_known || operation.value == *state;
    case KeyOperation::Kind::kWrite:
      *state = operation.value;
      return true;
    case KeyOperation::Kind::kCompareAndWrite:
      break;
  }
  const bool matches = *state == operation.expected;
  if (matches) *state = operation.value;
  return !is_known || matches == operation.succeeded;
}

bool StepLog(const LogOperation& operation, std::vector<std::string>* state) {
  const bool is_known = operation.returned != kNever;
  if (operation.kind == LogOperation::Kind::kRead) return !is_known || operation.contents == *state;
  state->push_back(operation.value);
  return !operation.place || *operation.place == state->size();
}

bool KeysHaveOrder(const std::vector<KeyOperation>& history) {
  std::map<std::string, std::vector<KeyOperation>> keys;
  for (const KeyOperation& operation : history) keys[operation.key].push_back(operation);
  return std::all_of(keys.begin(), keys.end(), [](const auto& key) {
    std::vector<bool> done(key.second.size());
    return HasOrder<KeyOperation, Register>(key.second, done, Register(), StepKey);
  });
}

bool LogHasOrder(const std::vector<LogOperation>& history) {
  std::vector<bool> done(history.size());
  return HasOrder<LogOperation, std::vector<std::string>>(history, done, {}, StepLog);
}

// The times of an operation's call, effect and return. Some operations are never answered and may
// then have no effect.
struct Times {
  TimePoint invoked;
  TimePoint effect;
  TimePoint returned;
};

std::vector<Times> RandomTimes(RandomSource& random, size_t count) {
  std::vector<Times> all;
  for (size_t i = 0; i < count; ++i) {
    const auto invoked = static_cast<int64_t>(random.Below(3 * count));
    const auto before = static_cast<int64_t>(random.Below(6));
    const auto after = static_cast<int64_t>(random.Below(6));
    Times times = {At(invoked), At(invoked + before), At(invoked + before + after)};
    if (random.Below(8) == 0) {
      times.returned = kNever;
      if (random.Below(2) == 0) times.effect = kNever;
    }
    all.push_back(times);
  }
  std::sort(all.begin(), all.end(),
            [](const Times& a, const Times& b) { return a.effect < b.effect; });
  return all;
}

std::string RandomValue(RandomSource& random) { return StrCat("v", random.Below(3)); }

// Operations in the order of their effects, each with its result.
std::vector<KeyOperation> RandomKeyHistory(RandomSource& random, size_t count) {
  std::vector<KeyOperation> history;
  std::map<std::string, Register> state;
  for (const Times& times : RandomTimes(random, count)) {
    KeyOperation operation;
    operation.kind = static_cast<KeyOperation::Kind>(random.Below(3));
    operation.key = StrCat("k", random.Below(2));
    operation.invoked = times.invoked;
    operation.returned = times.returned;
    Register& value = state[operation.key];
    if (random.Below(6) > 0) operation.value = RandomValue(random);
    if (operation.kind == KeyOperation::Kind::kRead) operation.value = value;
    if (operation.kind == KeyOperation::Kind::kCompareAndWrite) {
      if (random.Below(3) > 0)
        operation.expected = random.Below(2) == 0 ? value : RandomValue(random);
      operation.succeeded = operation.expected == value;
    }
    if (times.effect != kNever) StepKey(operation, &value);
    history.push_back(operation);
  }
  return history;
}

std::vector<LogOperation> RandomLogHistory(RandomSource& random, size_t count) {
  std::vector<LogOperation> history;
  std::vector<std::string> state;
  for (const Times& times : RandomTimes(random, count)) {
    LogOperation operation;
    operation.kind = static_cast<LogOperation::Kind>(random.Below(2));
    operation.invoked = times.invoked;
    operation.returned = times.returned;
    if (operation.kind == LogOperation::Kind::kRead) operation.contents = state;
    if (operation.kind == LogOperation::Kind::kAppend) operation.value = RandomValue(random);
    if (random.Below(2) == 0) operation.place = state.size() + 1;
    if (times.effect != kNever) StepLog(operation, &state);
    history.push_back(operation);
  }
  return history;
}

template <typename Operation>
void MoveInTime(RandomSource& random, Operation* operation) {
  const Duration by(static_cast<int64_t>(random.Below(30)) - 15);
  operation->invoked += by;
  if (operation->returned != kNever) operation->returned += by;
}

void Change(RandomSource& random, std::vector<KeyOperation>* history) {
  KeyOperation& operation = (*history)[random.Below(history->size())];
  switch (random.Below(4)) {
    case 0:
      operation.value = RandomValue(random);
      break;
    case 1:
      operation.value.reset();
      break;
    case 2:
      operation.succeeded = !operation.succeeded;
      break;
    default:
      MoveInTime(random, &operation);
  }
}

void Change(RandomSource& random, std::vector<LogOperation>* history) {
  LogOperation& operation = (*history)[random.Below(history->size())];
  switch (random.Below(4)) {
    case 0:
      operation.value = RandomValue(random);
      break;
    case 1:
      if (!operation.contents.empty()) operation.contents.pop_back();
      break;
    case 2:
      operation.place = 1 + random.Below(history->size());
      break;
    default:
      MoveInTime(random, &operation);
  }
}

TEST(KeyHistoryTest, AgreesWithAllOrders) {
  int good_count = 0;
  int bad_count = 0;
  for (uint64_t seed = 1; seed <= 10'000; ++seed) {
    RandomSource random(seed);
    std::vector<KeyOperation> history = RandomKeyHistory(random, 1 + random.Below(9));
    ASSERT_EQ(CheckKeys(history).verdict, Verdict::kLinearizable) << "seed " << seed;
    for (uint64_t changes = random.Below(4); changes > 0; --changes) Change(random, &history);
    const bool is_good = KeysHaveOrder(history);
    ASSERT_EQ(CheckKeys(history).verdict == Verdict::kLinearizable, is_good) << "seed " << seed;
    ++(is_good ? good_count : bad_count);
  }
  EXPECT_GT(good_count, 1500);
  EXPECT_GT(bad_count, 1500);
}

TEST(LogHistoryTest, AgreesWithAllOrders) {
  int good_count = 0;
  int bad_count = 0;
  for (uint64_t seed = 1; seed <= 10'000; ++seed) {
    RandomSource random(seed);
    std::vector<LogOperation> history = RandomLogHistory(random, 1 + random.Below(7));
    ASSERT_EQ(CheckLog(history).verdict, Verdict::kLinearizable) << "seed " << seed;
    for (uint64_t changes = random.Below(4); changes > 0; --changes) Change(random, &history);
    const bool is_good = LogHasOrder(history);
    ASSERT_EQ(CheckLog(history).verdict == Verdict::kLinearizable, is_good) << "seed " << seed;
    ++(is_good ? good_count : bad_count);
  }
  EXPECT_GT(good_count, 1500);
  EXPECT_GT(bad_count, 1500);
}

KeyOperation Write(std::string value, int64_t invoked, int64_t returned) {
  return {.kind = KeyOperation::Kind::kWrite,
          .key = "k",
          .value = std::move(value),
          .invoked = At(invoked),
          .returned = returned < 0 ? kNever : At(returned)};
}

KeyOperation Read(std::string value, int64_t invoked, int64_t returned) {
  KeyOperation read = Write(std::move(value), invoked, returned);
  read.kind = KeyOperation::Kind::kRead;
  return read;
}

TEST(KeyHistoryTest, StaleReadIsNamed) {
  const KeyResult result =
      CheckKeys({Write("a", 0, 1), Write("b", 2, 3), Read("b", 4, 5), Read("a", 6, 7)});
  EXPECT_EQ(result.verdict, Verdict::kNotLinearizable);
  EXPECT_EQ(result.key, "k");
  EXPECT_EQ(result.stuck_at, 3u);
}

TEST(KeyHistoryTest, UnansweredWriteMayShowLateAndThenStays) {
  EXPECT_EQ(CheckKeys({Write("a", 0, 1), Write("b", 2, -1), Read("a", 10, 11), Read("b", 12, 13)})
                .verdict,
            Verdict::kLinearizable);
  EXPECT_EQ(CheckKeys({Write("a", 0, 1), Write("b", 2, -1), Read("b", 10, 11), Read("a", 12, 13)})
                .verdict,
            Verdict::kNotLinearizable);
}

TEST(KeyHistoryTest, WhatMeetsAtOnePointInTimeMayHaveEitherOrder) {
  EXPECT_EQ(CheckKeys({Write("a", 0, 1), Write("b", 1, 2), Read("a", 2, 3)}).verdict,
            Verdict::kLinearizable);
}

TEST(KeyHistoryTest, GivesUpWithinItsMemory) {
  std::vector<KeyOperation> history;
  for (int i = 0; i < 40; ++i) history.push_back(Write(StrCat(i), 0, 100));
  history.push_back(Read("never written", 101, 102));
  EXPECT_EQ(CheckKeys(history, 1000).verdict, Verdict::kGaveUp);
}

TEST(KeyHistoryTest, NothingIsLinearizable) {
  EXPECT_EQ(CheckKeys({}).verdict, Verdict::kLinearizable);
  EXPECT_EQ(CheckLog({}).verdict, Verdict::kLinearizable);
}

}  // namespace
}  // namespace search::history
