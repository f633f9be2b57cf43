#include "neptune/replication/client/replica_session.h"

#include <algorithm>

#include "neptune/base/strings.h"
#include "neptune/replication/client/version_section.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

// Timeout of one attempt, after which another member may be the primary.
constexpr Duration kAttemptTimeout = std::chrono::milliseconds(500);
// Delay between attempts while there is no primary; doubles up to the maximum.
constexpr Duration kPause = std::chrono::milliseconds(5);
constexpr Duration kPauseMax = std::chrono::milliseconds(80);

// True if a retry may succeed.
bool MayPass(const Status& status) {
  switch (status.code()) {
    case StatusCode::kUnavailable:
    case StatusCode::kFailedPrecondition:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kCancelled:
    case StatusCode::kInternal:
      return true;
    default:
      return false;
  }
}

}  // namespace

ReplicaSession::ReplicaSession(ClientSession session) : session_(std::move(session)) {}

Lsn ReplicaSession::version(const ServiceName& service, PartitionId partition) const {
  const auto found = seen_.find({service, partition});
  return found == seen_.end() ? 0 : found->second.version;
}

ReplicaSession::Seen& ReplicaSession::SeenOf(const Key& key) {
  const auto [found, is_new] = seen_.try_emplace(key);
  found->second.used = ++uses_;
  if (is_new && seen_.size() > kSessionPartitionCountMax) {
    const auto oldest = std::min_element(
        seen_.begin(), seen_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    seen_.erase(oldest);
  }
  return found->second;
}

NodeId ReplicaSession::AnnouncedPrimary(const Key& key) const {
  const auto view = session_.client().View();
  NodeId primary;
  Epoch epoch = 0;
  for (const Replica& replica : view->Replicas(key.first, key.second)) {
    const auto announcement = replica.announced->last();
    const auto section = announcement->sections.find(kVersionSection);
    if (section == announcement->sections.end()) continue;
    const auto version = FindVersion(section->second, key.first, key.second);
    if (!version || !version->is_primary || version->epoch < epoch) continue;
    primary = replica.node;
    epoch = version->epoch;
  }
  return primary;
}

std::vector<NodeId> ReplicaSession::TooOld(const Key& key, const ReplicaDemand& demand) const {
  const auto view = session_.client().View();
  const std::vector<Replica>& replicas = view->Replicas(key.first, key.second);
  std::vector<std::pair<NodeId, AnnouncedVersion>> known;
  Lsn wanted = demand.version_min;
  Epoch epoch = 0;
  for (const Replica& replica : replicas) {
    const auto announcement = replica.announced->last();
    const auto section = announcement->sections.find(kVersionSection);
    if (section == announcement->sections.end()) continue;
    const auto version = FindVersion(section->second, key.first, key.second);
    if (!version || !version->is_staleness_bounded) continue;
    known.emplace_back(replica.node, *version);
    if (!version->is_primary || version->epoch < epoch) continue;
    epoch = version->epoch;
    wanted = std::max(demand.version_min, version->version_then);
  }
  std::vector<NodeId> too_old;
  for (const auto& [node, version] : known) {
    if (version.version < wanted && !version.is_primary) too_old.push_back(node);
  }
  // Announcements are up to a second old, so always leave a replica to ask.
  if (too_old.size() == replicas.size()) too_old.clear();
  return too_old;
}

std::vector<NodeId> ReplicaSession::Unwanted(const Key& key, const NodeId& in_vain) const {
  const auto view = session_.client().View();
  const std::vector<Replica>& replicas = view->Replicas(key.first, key.second);
  std::vector<NodeId> others;
  size_t peer_count = 0;
  for (const Replica& replica : replicas) {
    const auto announcement = replica.announced->last();
    const auto section = announcement->sections.find(kVersionSection);
    if (section == announcement->sections.end()) continue;
    const auto version = FindVersion(section->second, key.first, key.second);
    if (!version) continue;
    if (version->is_peer) ++peer_count;
    if (!version->is_peer || replica.node == in_vain) others.push_back(replica.node);
  }
  // No peers: another level, or no recent announcement. Otherwise leave at least one replica.
  if (peer_count == 0) others.clear();
  if (peer_count == 0 && replicas.size() > 1 && !in_vain.value().empty()) others = {in_vain};
  if (peer_count == 1) std::erase(others, in_vain);
  return others;
}

ReplicaSession::Attempt ReplicaSession::TryOnce(const CalledMethod& callee, const Data& request,
                                                Data* response, const CallOptions& options) {
  CallReport report;
  Attempt attempt;
  attempt.status =
      neptune::Call(session_, {callee.service, callee.partition, callee.method, callee.access},
                    request, response, options, &report);
  attempt.server = report.server;
  if (report.extension.empty()) return attempt;
  const StatusOr<ReplicaReport> decoded = DecodeReplicaReport(report.extension);
  if (!decoded.ok()) return attempt;
  attempt.report = *decoded;
  Seen& seen = SeenOf({callee.service, callee.partition});
  if (!decoded->primary.value().empty()) seen.primary = decoded->primary;
  if (decoded->was_served) seen.version = std::max(seen.version, decoded->version);
  return attempt;
}

ReplicaSession::Attempt ReplicaSession::Write(const CalledMethod& callee, const Data& request,
                                              Data* response, const Terms& terms) {
  const Key key(callee.service, callee.partition);
  Duration pause = kPause;
  NodeId target = SeenOf(key).primary;
  if (target.value().empty()) target = AnnouncedPrimary(key);
  NodeId in_vain;
  while (true) {
    CallOptions options;
    options.extension = EncodeReplicaDemand(terms.demand);
    options.deadline = std::min(terms.deadline, this_thread::Now() + kAttemptTimeout);
    options.attempts_max = 1;
    if (!target.value().empty()) {
      options.only = target;
    } else {
      options.except = Unwanted(key, in_vain);
    }
    Attempt attempt = TryOnce(callee, request, response, options);
    if (attempt.report && attempt.report->was_served) return attempt;
    if (attempt.status.ok() || !MayPass(attempt.status)) return attempt;
    in_vain = attempt.server;
    const NodeId reported = attempt.report ? attempt.report->primary : NodeId();
    const bool is_news = !reported.value().empty() && reported != target;
    target = is_news ? reported : AnnouncedPrimary(key);
    // The former primary does not answer: ask any member.
    if (!attempt.report) SeenOf(key).primary = target = NodeId();
    if (is_news) continue;
    if (this_thread::SleepUntil(std::min(terms.deadline, this_thread::Now() + pause)) ==
            ParkResult::kStopping ||
        this_thread::Now() >= terms.deadline) {
      return attempt;
    }
    pause = std::min(2 * pause, kPauseMax);
  }
}

ReplicaSession::Attempt ReplicaSession::Read(const CalledMethod& callee, const Data& request,
                                             Data* response, const Terms& terms) {
  const Key key(callee.service, callee.partition);
  Duration pause = kPause;
  NodeId target;
  NodeId in_vain;
  while (true) {
    CallOptions options;
    options.extension = EncodeReplicaDemand(terms.demand);
    options.deadline = terms.deadline;
    if (target.value().empty()) {
      options.except = TooOld(key, terms.demand);
      if (options.except.empty()) options.except = Unwanted(key, in_vain);
    } else {
      options.only = target;
      options.deadline = std::min(terms.deadline, this_thread::Now() + kAttemptTimeout);
    }
    Attempt attempt = TryOnce(callee, request, response, options);
    if (attempt.report && attempt.report->was_served) return attempt;
    if (attempt.status.ok() || !MayPass(attempt.status)) return attempt;
    in_vain = attempt.server;
    const bool asked_any = target.value().empty();
    target = attempt.report ? attempt.report->primary : NodeId();
    if (asked_any && !target.value().empty()) continue;
    if (this_thread::SleepUntil(std::min(terms.deadline, this_thread::Now() + pause)) ==
            ParkResult::kStopping ||
        this_thread::Now() >= terms.deadline) {
      return attempt;
    }
    pause = std::min(2 * pause, kPauseMax);
    target = NodeId();
  }
}

Status ReplicaSession::Call(const CalledMethod& callee, const Data& request, Data* response,
                            const ReplicaCallOptions& options, ReplicaReport* report) {
  const TimePoint own =
      options.deadline.value_or(AddSaturated(this_thread::Now(), session_.default_timeout));
  Terms terms;
  terms.deadline = std::min(own, session_.deadline_max());
  terms.demand.version_min = SeenOf({callee.service, callee.partition}).version;
  terms.demand.staleness_max = options.staleness_max;
  Attempt attempt;
  if (callee.access == AccessMode::kWrite) {
    if (client_ == 0) client_ = Loop::Current()->random().Next() | 1;
    terms.demand.id = options.id.given() ? options.id : RequestId{client_, ++writes_};
    attempt = Write(callee, request, response, terms);
  } else {
    attempt = Read(callee, request, response, terms);
  }
  if (report != nullptr) *report = attempt.report.value_or(ReplicaReport());
  return attempt.status;
}

}  // namespace neptune
