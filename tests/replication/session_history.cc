#include "tests/replication/session_history.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace neptune::replication_tests {
namespace {

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

// What each operation's session had seen when it was invoked.
std::vector<Seen> SeenBefore(const std::vector<SessionOperation>& history) {
  std::vector<size_t> by_invocation(history.size());
  std::iota(by_invocation.begin(), by_invocation.end(), 0);
  std::vector<size_t> by_return = by_invocation;
  std::sort(by_invocation.begin(), by_invocation.end(),
            [&](size_t a, size_t b) { return history[a].invoked < history[b].invoked; });
  std::sort(by_return.begin(), by_return.end(),
            [&](size_t a, size_t b) { return history[a].returned < history[b].returned; });
  std::vector<Seen> seen(history.size());
  std::map<uint64_t, Seen> sessions;
  auto next = by_return.begin();
  for (const size_t i : by_invocation) {
    for (; next != by_return.end() && history[*next].returned <= history[i].invoked; ++next) {
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

std::vector<FoundSessionFault> JudgeSessions(const std::vector<SessionOperation>& history,
                                             std::vector<AcknowledgedVersion> acknowledged) {
  const NewestVersions newest(std::move(acknowledged));
  const std::vector<Seen> seen = SeenBefore(history);
  std::vector<FoundSessionFault> faults;
  for (size_t i = 0; i < history.size(); ++i) {
    const SessionOperation& operation = history[i];
    const uint64_t least = operation.is_write ? seen[i].version + 1 : seen[i].version;
    // If it was answered when it was invoked, its claim reaches back furthest.
    const bool is_understated =
        operation.reported_staleness &&
        newest.Before(operation.invoked - *operation.reported_staleness) > operation.version;
    if (operation.version < seen[i].written) {
      faults.push_back({SessionFault::kOwnWriteMissing, i});
    } else if (operation.version < least) {
      faults.push_back({SessionFault::kVersionWentBack, i});
    } else if (is_understated) {
      faults.push_back({SessionFault::kStalenessUnderstated, i});
    }
  }
  return faults;
}

}  // namespace neptune::replication_tests
