#include "tools/history/key_history.h"

#include <map>

namespace search::history {
namespace {

using neptune::kNever;
using neptune::TimePoint;

// The number of a key's value; 0: the key has no value.
using ValueNumber = uint32_t;

struct RegisterModel {
  struct Operation {
    KeyOperation::Kind kind;
    ValueNumber value;
    ValueNumber expected;
    bool succeeded;
    TimePoint invoked;
    TimePoint returned;
  };
  using State = ValueNumber;

  static bool OnlyLooks(const Operation& operation) {
    if (operation.returned == kNever) return false;
    return operation.kind == KeyOperation::Kind::kRead ||
           (operation.kind == KeyOperation::Kind::kCompareAndWrite && !operation.succeeded);
  }
  static bool Step(const Operation& operation, State* state) {
    switch (operation.kind) {
      case KeyOperation::Kind::kRead:
        return operation.value == *state;
      case KeyOperation::Kind::kWrite:
        *state = operation.value;
        return true;
      case KeyOperation::Kind::kCompareAndWrite:
        break;
    }
    const bool matches = operation.expected == *state;
    if (operation.returned != kNever && operation.succeeded != matches) return false;
    if (matches) *state = operation.value;
    return true;
  }
};

class ValueNumbers {
 public:
  ValueNumber Of(const std::optional<std::string>& value) {
    if (!value) return 0;
    return numbers_.try_emplace(*value, static_cast<ValueNumber>(numbers_.size() + 1))
        .first->second;
  }

 private:
  std::map<std::string, ValueNumber> numbers_;
};

struct OneKey {
  ValueNumbers numbers;
  std::vector<RegisterModel::Operation> operations;
  std::vector<size_t> places;  // indices in the whole history
};

}  // namespace

KeyResult CheckKeys(const std::vector<KeyOperation>& history, size_t configuration_count_max) {
  std::map<std::string, OneKey> keys;
  for (size_t i = 0; i < history.size(); ++i) {
    const KeyOperation& operation = history[i];
    // A read without an answer proves nothing.
    if (operation.kind == KeyOperation::Kind::kRead && operation.returned == kNever) continue;
    OneKey& one = keys[operation.key];
    one.places.push_back(i);
    one.operations.push_back({operation.kind, one.numbers.Of(operation.value),
                              one.numbers.Of(operation.expected), operation.succeeded,
                              operation.invoked, operation.returned});
  }
  KeyResult result;
  for (const auto& [key, one] : keys) {
    const LinearizabilityResult found =
        CheckLinearizability<RegisterModel>(one.operations, configuration_count_max);
    if (found.verdict == Verdict::kLinearizable) continue;
    // A certain violation is reported rather than a key that could not be checked.
    const bool is_worse =
        result.verdict == Verdict::kLinearizable || found.verdict == Verdict::kNotLinearizable;
    if (is_worse) result = {found.verdict, key, one.places[found.stuck_at]};
    if (found.verdict == Verdict::kNotLinearizable) return result;
  }
  return result;
}

}  // namespace search::history
