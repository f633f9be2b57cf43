#include "tools/cluster/supervisor.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "neptune/base/descriptor.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/cluster/log_file.h"

namespace search::tools {
namespace {

using neptune::Duration;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;

constexpr Duration kStartPoll = std::chrono::milliseconds(20);
constexpr size_t kLogTailSize = 2000;
constexpr uint64_t kLogSizeMax = uint64_t{32} << 20;
constexpr Duration kLogCheckPeriod = std::chrono::seconds(10);

TimePoint MonotonicNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

// The tail of a log after byte `begin`, for the message about a node that fails to start.
std::string LogTail(const std::string& path, size_t begin) {
  const auto text = neptune::ReadFile(path, size_t{64} << 20);
  if (!text.ok() || begin > text->size()) return "";
  return text->substr(std::max(begin, text->size() - std::min(kLogTailSize, text->size())));
}

}  // namespace

Supervisor::Supervisor(std::vector<std::string> nodes, const StateDirectory& state,
                       SupervisorOptions options)
    : state_(state), options_(std::move(options)) {
  for (std::string& node : nodes) processes_[std::move(node)];
  sigemptyset(&signals_);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&signals_, signal);
  sigprocmask(SIG_BLOCK, &signals_, nullptr);
}

Status Supervisor::Spawn(const std::string& node) {
  NEPTUNE_RETURN_IF_ERROR(state_.MakeNode(node));
  state_.ForgetStarted(node);
  const std::string log_path = state_.LogFile(node);
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::Descriptor log, OpenLog(log_path));
  NodeProcess& process = processes_[node];
  process.log_begin = static_cast<size_t>(std::max<off_t>(0, lseek(log.number(), 0, SEEK_END)));
  std::vector<std::string> words = {options_.program, "--node=" + node,
                                    "--started_file=" + state_.StartedFile(node)};
  if (options_.span_logs) words.push_back("--span_log=" + state_.SpanFile(node));
  words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
  StatusOr<neptune::Process> started = neptune::Process::Start(
      {.command = std::move(words),
       .output = log.number(),
       .error = log.number(),
       .in_own_group = true,  // Ctrl-C on the terminal reaches the supervisor only
       .ends_with_caller = true,
       .caller_end_signal = SIGTERM});
  if (!started.ok()) {
    return neptune::Unavailable("node ", node, ": ", neptune::ToStd(started.status().message()));
  }
  process.process = *std::move(started);
  state_.SetRunningPid(node, process.pid());
  process.started = MonotonicNow();
  process.restart_at = neptune::kNever;
  return neptune::OkStatus();
}

bool Supervisor::WaitForSignal(TimePoint deadline) {
  const Duration left = std::max(Duration(0), deadline - MonotonicNow());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  timespec wait;
  wait.tv_sec = std::min<int64_t>(seconds.count(), 3600);
  wait.tv_nsec = (left - seconds).count();
  const int signal = sigtimedwait(&signals_, nullptr, &wait);
  woken_ = woken_ || signal == SIGUSR1;
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

std::vector<Supervisor::Death> Supervisor::Reap() {
  std::vector<Death> dead;
  for (auto& [node, process] : processes_) {
    if (!process.process) continue;
    const std::optional<neptune::ProcessEnd> end = process.process->TakeEnd();
    if (!end) continue;
    process.process.reset();
    state_.SetRunningPid(node, 0);
    state_.ForgetStarted(node);
    dead.push_back({node, end->signal == 0 && end->exit_status == 0});
  }
  return dead;
}

bool Supervisor::AllStarted() const {
  return std::all_of(processes_.begin(), processes_.end(), [&](const auto& item) {
    if (state_.IsHeld(item.first)) return true;
    const auto started = state_.ReadStarted(item.first);
    return started && started->pid == item.second.pid();
  });
}

bool Supervisor::AnyRunning() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& item) { return item.second.process.has_value(); });
}

Status Supervisor::Start() {
  const TimePoint deadline = MonotonicNow() + options_.start_timeout;
  for (const auto& [node, process] : processes_) {
    if (!state_.IsHeld(node)) NEPTUNE_RETURN_IF_ERROR(Spawn(node));
  }
  while (!AllStarted()) {
    if (WaitForSignal(MonotonicNow() + kStartPoll)) {
      Stop();
      return neptune::Cancelled("stopped while starting");
    }
    const std::vector<Death> dead = Reap();
    if (!dead.empty()) {
      Stop();
      const std::string& node = dead[0].node;
      return neptune::Unavailable("node ", node, " ended while starting; its log ends:\n",
                                  LogTail(state_.LogFile(node), processes_[node].log_begin));
    }
    if (MonotonicNow() > deadline) {
      Stop();
      return neptune::Unavailable("not all nodes started in time; see the logs beside ",
                                  state_.LogFile(processes_.begin()->first));
    }
  }
  return neptune::OkStatus();
}

void Supervisor::Bury(const Death& death, TimePoint now) {
  NodeProcess& process = processes_[death.node];
  if (death.clean) {
    process.restart_at = now;
    return;
  }
  process.restart_at = process.policy.OnDeath(process.started, now);
  std::fprintf(stderr, "node %s ended (%d times so far); starting it again\n", death.node.c_str(),
               process.policy.death_count());
}

void Supervisor::BoundLogs() {
  for (const auto& [node, process] : processes_) {
    const Status status = BoundLog(state_.LogFile(node), kLogSizeMax);
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  }
}

void Supervisor::Run() {
  while (true) {
    TimePoint next = neptune::kNever;
    for (const auto& [node, process] : processes_) next = std::min(next, process.restart_at);
    if (WaitForSignal(std::min(next, MonotonicNow() + kLogCheckPeriod))) return;
    const TimePoint now = MonotonicNow();
    BoundLogs();
    for (const Death& death : Reap()) Bury(death, now);
    const bool woken = std::exchange(woken_, false);
    for (auto& [node, process] : processes_) {
      if (!process.process && woken) process.restart_at = now;
      if (process.restart_at > now) continue;
      if (state_.IsHeld(node)) {
        process.restart_at = neptune::kNever;
        continue;
      }
      const Status status = Spawn(node);
      if (status.ok()) continue;
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      process.restart_at = process.policy.OnDeath(now, now);
    }
  }
}

void Supervisor::SignalAll(int signal) {
  for (const auto& [node, process] : processes_) {
    if (process.process) process.process->Signal(signal);
  }
}

void Supervisor::Stop() {
  SignalAll(SIGTERM);
  SignalAll(SIGCONT);  // a paused node has to wake up to stop
  const TimePoint deadline = MonotonicNow() + options_.grace;
  while (AnyRunning() && MonotonicNow() < deadline) {
    WaitForSignal(MonotonicNow() + kStartPoll);
    Reap();
  }
  SignalAll(SIGKILL);
  while (AnyRunning()) {
    WaitForSignal(MonotonicNow() + kStartPoll);
    Reap();
  }
  for (const auto& [node, process] : processes_) state_.ForgetStarted(node);
}

}  // namespace search::tools
