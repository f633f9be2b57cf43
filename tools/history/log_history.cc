#include "tools/history/log_history.h"

#include <algorithm>

#include "neptune/base/checksum.h"

namespace search::history {
namespace {

using neptune::Checksum64;
using neptune::kNever;
using neptune::TimePoint;

// A log, represented by its length and a checksum over its values in their order.
struct LogState {
  uint64_t length = 0;
  uint64_t checksum = 0;

  void Append(const std::string& value) {
    ++length;
    checksum = Checksum64(value, checksum + 1);
  }
  friend bool operator==(const LogState&, const LogState&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const LogState& log) {
    return H::combine(std::move(state), log.length, log.checksum);
  }
};

struct LogModel {
  struct Operation {
    const LogOperation* made;
    LogState read;
    TimePoint invoked;
    TimePoint returned;
  };
  using State = LogState;

  static bool OnlyLooks(const Operation& operation) {
    return operation.made->kind == LogOperation::Kind::kRead;
  }
  static bool Step(const Operation& operation, State* state) {
    if (operation.made->kind == LogOperation::Kind::kRead) return operation.read == *state;
    state->Append(operation.made->value);
    return !operation.made->place || *operation.made->place == state->length;
  }
};

}  // namespace

LinearizabilityResult CheckLog(const std::vector<LogOperation>& history,
                               size_t configuration_count_max) {
  std::vector<LogModel::Operation> operations;
  std::vector<size_t> places;
  for (size_t i = 0; i < history.size(); ++i) {
    const LogOperation& made = history[i];
    if (made.kind == LogOperation::Kind::kRead && made.returned == kNever) continue;
    LogState read;
    for (const std::string& value : made.contents) read.Append(value);
    operations.push_back({&made, read, made.invoked, made.returned});
    places.push_back(i);
  }
  LinearizabilityResult result =
      CheckLinearizability<LogModel>(operations, configuration_count_max);
  if (!places.empty()) result.stuck_at = places[result.stuck_at];
  return result;
}

}  // namespace search::history
