#include "tools/history/session_history.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace search::history {
namespace {

using neptune::TimePoint;

// The largest version acknowledged before a time.
class NewestVersions {
 public:
  explicit NewestVersions(std::vector<AcknowledgedVersion> acknowledged)
      : newest_(std::move(acknowledged)) {
    std::sort(newest_.begin(), newest_.end(),
              [](const auto& a, const auto& b) { return a.at < b.at; });
    for (size_t i = 1; i < newest_.size(); ++i) {
      newest_[i].version = std::max(newest_[i].version, newest_[i - 1].version);
    }
  }
  uint64_t Before(TimePoint time) const {
    const auto end = std::lower_bound(
        newest_.begin(), newest_.end(), time,
        [](const AcknowledgedVersion& known, TimePoint at) { return known.at < at; });
    return end == newest_.begin() ? 0 : (end - 1)->version;
  }

 private:
  std::vector<AcknowledgedVersion> newest_;
};

struct Seen {
  uint64_t version = 0;
  uint64_t written = 0;
};

// Orders operations that take no time among those of the same instant.
std::vector<size_t> OrderBy(const std::vector<SessionOperation>& history,
                            TimePoint SessionOperation::*time, bool instants_first) {
  const auto key = [&](size_t i) {
    const bool is_instant = history[i].invoked == history[i].returned;
    return std::tuple(history[i].*time, is_instant != instants_first, i);
  };
  std::vector<size_t> order(history.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  return order;
}

// What each operation's session had seen when it was invoked.
std::vector<Seen> SeenBefore(const std::vector<SessionOperation>& history) {
  const auto by_invocation = OrderBy(history, &SessionOperation::invoked, true);
  const auto by_return = OrderBy(history, &SessionOperation::returned, false);
  std::vector<Seen> seen(history.size());
  std::map<uint64_t, Seen> sessions;
  auto next = by_return.begin();
  for (const size_t i : by_invocation) {
    for (; next != by_return.end() && PrecedesInSession(history, *next, i); ++next) {
      const SessionOperation& ended = history[*next];
      Seen& session = sessions[ended.session];
      session.version = std::max(session.version, ended.version);
      if (ended.is_write) session.written = std::max(session.written, ended.version);
    }
    seen[i] = sessions[history[i].session];
  }
  return seen;
}

}  // namespace

bool PrecedesInSession(const std::vector<SessionOperation>& history, size_t first, size_t second) {
  const SessionOperation& a = history[first];
  const SessionOperation& b = history[second];
  if (a.returned != b.invoked) return a.returned < b.invoked;
  const bool are_instants = a.invoked == a.returned && b.invoked == b.returned;
  return !are_instants || first < second;
}

std::vector<SessionViolation> CheckSessions(const std::vector<SessionOperation>& history,
                                            std::vector<AcknowledgedVersion> acknowledged) {
  const NewestVersions newest(std::move(acknowledged));
  const std::vector<Seen> seen = SeenBefore(history);
  std::vector<SessionViolation> violations;
  for (size_t i = 0; i < history.size(); ++i) {
    const SessionOperation& operation = history[i];
    const uint64_t least = operation.is_write ? seen[i].version + 1 : seen[i].version;
    // The claim reaches back furthest if the read was answered as soon as it was invoked.
    const bool is_understated =
        operation.reported_staleness &&
        newest.Before(operation.invoked - *operation.reported_staleness) > operation.version;
    if (operation.version < seen[i].written) {
      violations.push_back({SessionRule::kOwnWriteMissing, i});
    } else if (operation.version < least) {
      violations.push_back({SessionRule::kVersionWentBack, i});
    } else if (is_understated) {
      violations.push_back({SessionRule::kStalenessUnderstated, i});
    }
  }
  return violations;
}

}  // namespace search::history
