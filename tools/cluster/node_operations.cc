#include "tools/cluster/node_operations.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/cluster/changes_file.h"
#include "tools/http/http_get.h"

namespace search::tools {
namespace {

using neptune::Duration;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;

constexpr int kPollMs = 20;
// Two announcement intervals of a live node, plus time to receive them.
constexpr neptune::Duration kMeetingMax = std::chrono::milliseconds(2500);
constexpr std::chrono::milliseconds kPageTimeout{2'000};
constexpr size_t kLogSizeMax = size_t{64} << 20;
// Prefix of a node's last output line if it fails to start.
constexpr char kLastWords[] = "neptuned: ";

TimePoint MonotonicNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

void Pause() { poll(nullptr, 0, kPollMs); }

bool IsAlive(pid_t pid) { return pid > 0 && kill(pid, 0) == 0; }

// Returns the error that the node printed after byte `begin` when it failed to start; empty if
// none.
std::string LastWords(const std::string& log, size_t begin) {
  const auto text = neptune::ReadFile(log, kLogSizeMax);
  if (!text.ok() || begin > text->size()) return "";
  const std::string since = "\n" + text->substr(begin);
  const size_t words = since.find(StrCat("\n", kLastWords));
  if (words == std::string::npos) return "";
  const size_t from = words + 1 + sizeof(kLastWords) - 1;
  return since.substr(from, since.find('\n', from) - from);
}

size_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<size_t>(size);
}

}  // namespace

StatusOr<ClusterChanges> LoadChanges(const StateDirectory& state) {
  const auto text = neptune::ReadFile(state.ChangesFile(), kChangesSizeMax);
  if (text.status().code() == neptune::StatusCode::kNotFound) return ClusterChanges();
  NEPTUNE_RETURN_IF_ERROR(text.status());
  auto changes = ParseChanges(*text);
  if (!changes.ok()) return neptune::Annotate(changes.status(), state.ChangesFile());
  return changes;
}

StatusOr<neptune::ClusterSpec> EffectiveSpec(const DecidedSpec& spec) {
  neptune::ClusterSpec effective = spec.base;
  NEPTUNE_RETURN_IF_ERROR(ApplyChanges(spec.changes, &effective));
  NEPTUNE_RETURN_IF_ERROR(neptune::CompleteClusterSpec(&effective));
  return effective;
}

Status WriteNodesSpec(const DecidedSpec& spec, const StateDirectory& state) {
  NEPTUNE_ASSIGN_OR_RETURN(neptune::ClusterSpec effective, EffectiveSpec(spec));
  // It may hold API keys and passwords.
  return neptune::WriteFileAtomically(state.SpecFile(),
                                      SpecForNodes(std::move(effective), spec.path),
                                      neptune::FileReaders::kOwner);
}

Status NodeOperations::CheckNode(const std::string& node) const {
  NEPTUNE_RETURN_IF_ERROR(state_.Supervisor().status());
  if (neptune::FindNode(spec_.base, neptune::NodeId(node)) != nullptr) return neptune::OkStatus();
  return neptune::InvalidArgument("the cluster has no node '", node, "'");
}

StatusOr<OfferedReplicas> NodeOperations::ViewOf(const std::string& node) const {
  const std::optional<StartedNode> started = state_.ReadStarted(node);
  if (!started || !IsAlive(started->pid)) {
    return neptune::Unavailable("node ", node, " is not running");
  }
  NEPTUNE_ASSIGN_OR_RETURN(const HttpOrigin origin, ParseHttpOrigin(started->admin));
  auto response = HttpGet(origin, kYellowPagePath, {}, {.timeout = kPageTimeout});
  NEPTUNE_RETURN_IF_ERROR(neptune::Annotate(response.status(), "asking node " + node));
  auto view = ParseYellowPage(response->body);
  return view.ok() ? std::move(view) : neptune::Annotate(view.status(), "node " + node);
}

StatusOr<std::map<std::string, OfferedReplicas>> NodeOperations::Views(
    const std::string& except) const {
  std::map<std::string, OfferedReplicas> views;
  for (const neptune::NodeSpec& node : spec_.base.nodes()) {
    const std::optional<StartedNode> started = state_.ReadStarted(node.name());
    if (node.name() == except || state_.IsHeld(node.name())) continue;
    if (!started || !IsAlive(started->pid)) continue;
    NEPTUNE_ASSIGN_OR_RETURN(views[node.name()], ViewOf(node.name()));
  }
  return views;
}

// Replicas that every other node would call. Nodes that have just started may not have heard of all
// others yet.
Status NodeOperations::MayTakeDown(const std::string& node) {
  if (options_.force) return neptune::OkStatus();
  const std::optional<StartedNode> started = state_.ReadStarted(node);
  if (!started || !IsAlive(started->pid)) return neptune::OkStatus();
  const TimePoint deadline = MonotonicNow() + kMeetingMax;
  while (true) {
    Status status = IsDispensableToAll(node);
    if (status.code() != neptune::StatusCode::kFailedPrecondition || MonotonicNow() > deadline) {
      return status;
    }
    Pause();
  }
}

Status NodeOperations::IsDispensableToAll(const std::string& node) const {
  NEPTUNE_ASSIGN_OR_RETURN(const auto views, Views(node));
  for (const auto& [other, view] : views) {
    NEPTUNE_RETURN_IF_ERROR(
        neptune::Annotate(IsDispensable(spec_.base, view, node), StrCat("as ", other, " sees it")));
  }
  // If there is only one node, no other view exists.
  return views.empty() ? IsDispensable(spec_.base, {}, node) : neptune::OkStatus();
}

Status NodeOperations::Save(const ClusterChanges& changes) {
  spec_.changes = changes;
  NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(state_.ChangesFile(), ChangesJson(changes)));
  return WriteNodesSpec(spec_, state_);
}

Status NodeOperations::StopProcess(const std::string& node) {
  const pid_t pid = state_.RunningPid(node);
  const int process = pid == 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return neptune::OkStatus();
  kill(pid, SIGTERM);
  kill(pid, SIGCONT);  // a paused one has to wake up to stop
  pollfd ended = {.fd = process, .events = POLLIN, .revents = 0};
  const int ready = poll(&ended, 1, static_cast<int>(neptune::ToMillis(options_.wait)));
  close(process);
  if (ready > 0) return neptune::OkStatus();
  return neptune::DeadlineExceeded("node ", node, " has not stopped in time");
}

Status NodeOperations::AwaitStart(const std::string& node, pid_t before, size_t log_begin,
                                  TimePoint deadline) {
  while (true) {
    const std::optional<StartedNode> started = state_.ReadStarted(node);
    if (started && started->pid != before) return neptune::OkStatus();
    if (const std::string words = LastWords(state_.LogFile(node), log_begin); !words.empty()) {
      return neptune::Unavailable(words);
    }
    NEPTUNE_RETURN_IF_ERROR(state_.Supervisor().status());
    if (MonotonicNow() > deadline) {
      return neptune::DeadlineExceeded("node ", node, " has not started in time; its log is ",
                                       state_.LogFile(node));
    }
    Pause();
  }
}

// Returns the first missing replica, as "tier1/2 of store-1 at web-1"; empty if none is missing.
std::string NodeOperations::MissingOf(const Expectation& expectation) const {
  const auto views = Views("");
  if (!views.ok()) return views.status().ToString();
  const auto lacks = [](const OfferedReplica& one, const std::string& at) {
    return StrCat(one.service, "/", one.partition, " of ", one.node, " at ", at);
  };
  for (const auto& [node, view] : *views) {
    for (const auto& [replica, implementation] : expectation.before) {
      const bool runs = views->contains(replica.node);
      if (runs && replica.node != expectation.node && !view.contains(replica)) {
        return lacks(replica, node);
      }
    }
    for (const OfferedReplica& own : HostedReplicas(spec_.base, expectation.node)) {
      const auto found = view.find(own);
      if (found == view.end()) return lacks(own, node);
      if (expectation.implementation.empty() || own.service != expectation.service) continue;
      if (found->second != expectation.implementation) {
        return StrCat(lacks(own, node), ": it is '", found->second, "' and not '",
                      expectation.implementation, "'");
      }
    }
  }
  return "";
}

Status NodeOperations::AwaitOffers(const Expectation& expectation, TimePoint deadline) {
  while (true) {
    const std::string missing = MissingOf(expectation);
    if (missing.empty()) return neptune::OkStatus();
    if (MonotonicNow() > deadline) {
      return neptune::DeadlineExceeded("not all partitions are offered again: ", missing,
                                       "; see the log ", state_.LogFile(expectation.node));
    }
    Pause();
  }
}

Status NodeOperations::Restart(const std::string& node, const std::string& service,
                               const std::string& implementation) {
  Expectation expectation{{}, node, service, implementation};
  NEPTUNE_ASSIGN_OR_RETURN(const auto views, Views(node));
  for (const auto& [other, view] : views) {
    expectation.before.insert(view.begin(), view.end());
  }
  options_.report(StrCat(node, " finishes its requests and restarts"));
  const pid_t before = state_.RunningPid(node);
  const TimePoint deadline = MonotonicNow() + options_.wait;
  NEPTUNE_RETURN_IF_ERROR(state_.SetHeld(node, false));
  NEPTUNE_RETURN_IF_ERROR(StopProcess(node));
  const size_t log_begin = SizeOf(state_.LogFile(node));
  NEPTUNE_RETURN_IF_ERROR(state_.WakeSupervisor());
  NEPTUNE_RETURN_IF_ERROR(AwaitStart(node, before, log_begin, deadline));
  NEPTUNE_RETURN_IF_ERROR(AwaitOffers(expectation, deadline));
  options_.report(StrCat(node, " is in service again"));
  return neptune::OkStatus();
}

Status NodeOperations::RestartOne(const std::string& node) {
  NEPTUNE_RETURN_IF_ERROR(CheckNode(node));
  if (spec_.changes.under_way) {
    return neptune::FailedPrecondition("'", spec_.changes.under_way->what,
                                       "' is not complete; --continue resumes it");
  }
  NEPTUNE_RETURN_IF_ERROR(MayTakeDown(node));
  return Restart(node, "", "");
}

Status NodeOperations::Drain(const std::string& node) {
  NEPTUNE_RETURN_IF_ERROR(CheckNode(node));
  NEPTUNE_RETURN_IF_ERROR(MayTakeDown(node));
  NEPTUNE_RETURN_IF_ERROR(state_.SetHeld(node, true));
  NEPTUNE_RETURN_IF_ERROR(StopProcess(node));
  options_.report(StrCat(node, " has finished its requests and is down; --restart=", node,
                         " takes it back into service"));
  return neptune::OkStatus();
}

Status NodeOperations::Roll(std::optional<RollingChange> change) {
  NEPTUNE_RETURN_IF_ERROR(state_.Supervisor().status());
  if (change && spec_.changes.under_way) {
    return neptune::FailedPrecondition("'", spec_.changes.under_way->what,
                                       "' is not complete; --continue resumes it, "
                                       "--abandon leaves the nodes as they are");
  }
  if (!change && !spec_.changes.under_way) {
    return neptune::FailedPrecondition("no change was interrupted");
  }
  ClusterChanges changes = spec_.changes;
  if (change) {
    for (const RollingNode& node : change->nodes) {
      NEPTUNE_RETURN_IF_ERROR(CheckNode(node.node));
      if (state_.IsHeld(node.node)) {
        return neptune::FailedPrecondition("node ", node.node, " is drained; --restart=", node.node,
                                           " takes it back into service first");
      }
    }
    changes.under_way = std::move(change);
  }
  return RunRollingChange(&changes, *this);
}

}  // namespace search::tools
