#include "tools/cluster/control.h"

#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

// The process's state as reported by the kernel: the letter after the name in /proc/PID/stat.
char ProcessState(pid_t pid) {
  const auto stat = neptune::ReadFile(StrCat("/proc/", pid, "/stat"), 4096);
  if (!stat.ok()) return 'X';
  const size_t end_of_name = stat->rfind(')');
  return end_of_name == std::string::npos || end_of_name + 2 >= stat->size()
             ? '?'
             : (*stat)[end_of_name + 2];
}

std::string StateName(const StateDirectory& state, const std::string& node,
                      const std::optional<StartedNode>& started) {
  if (!started) return state.IsHeld(node) ? "drained" : "starting";
  switch (ProcessState(started->pid)) {
    case 'X':
    case 'Z':
      return "dead";
    case 'T':
    case 't':
      return "paused";
    default:
      return "running";
  }
}

std::string Hosted(const neptune::NodeSpec& node) {
  std::string text;
  for (const auto& hosted : node.hosts()) {
    neptune::StrAppend(&text, text.empty() ? "" : " ", hosted.service(), "/");
    for (int i = 0; i < hosted.partitions_size(); ++i) {
      neptune::StrAppend(&text, i == 0 ? "" : ",", hosted.partitions(i));
    }
  }
  return text;
}

std::string Row(const std::string& node, const std::string& pid, const std::string& state,
                const std::string& calls, const std::string& admin, const std::string& hosts) {
  char line[512];
  std::snprintf(line, sizeof(line), "%-12s %8s %-9s %-21s %-21s %s\n", node.c_str(), pid.c_str(),
                state.c_str(), calls.c_str(), admin.c_str(), hosts.c_str());
  return line;
}

}  // namespace

StatusOr<std::string> DescribeCluster(const neptune::ClusterSpec& spec,
                                      const StateDirectory& state) {
  NEPTUNE_ASSIGN_OR_RETURN(const pid_t supervisor, state.Supervisor());
  std::string text = StrCat("cluster ", spec.name(), ", supervised by process ", supervisor, "\n") +
                     Row("node", "pid", "state", "calls", "status pages", "hosts");
  for (const neptune::NodeSpec& node : spec.nodes()) {
    const std::optional<StartedNode> started = state.ReadStarted(node.name());
    text += Row(node.name(), started ? StrCat(started->pid) : "-",
                StateName(state, node.name(), started), started ? started->calls : "-",
                started ? started->admin : "-", Hosted(node));
  }
  return text;
}

std::string DescribeChanges(const neptune::ClusterSpec& spec, const ClusterChanges& changes,
                            const StateDirectory& state) {
  std::string text;
  for (const neptune::NodeSpec& node : spec.nodes()) {
    if (!state.IsHeld(node.name())) continue;
    neptune::StrAppend(&text, node.name(), " is drained; --restart=", node.name(),
                       " takes it back into service\n");
  }
  for (const HostedChange& hosted : changes.hosted) {
    std::string what = hosted.module;
    for (const auto& [key, value] : hosted.parameters) {
      neptune::StrAppend(&what, what.empty() ? "" : ", ", key, " ", value);
    }
    neptune::StrAppend(&text, hosted.service, " on ", hosted.node, ": ",
                       what.empty() ? "as in the spec" : what, "\n");
  }
  if (changes.under_way) {
    size_t done = 0;
    for (const RollingNode& node : changes.under_way->nodes) {
      done += node.stage == NodeStage::kChanged ? 1 : 0;
    }
    neptune::StrAppend(&text, "'", changes.under_way->what, "' is at node ", done + 1, " of ",
                       changes.under_way->nodes.size(),
                       "; if no tool is running it, --continue resumes it and --abandon leaves the "
                       "nodes as they are\n");
  }
  return text.empty() ? text : "\n" + text;
}

Status SignalNode(const neptune::ClusterSpec& spec, const StateDirectory& state,
                  const std::string& node, int signal) {
  if (neptune::FindNode(spec, neptune::NodeId(node)) == nullptr) {
    return neptune::InvalidArgument("the cluster has no node '", node, "'");
  }
  NEPTUNE_RETURN_IF_ERROR(state.Supervisor().status());
  const std::optional<StartedNode> started = state.ReadStarted(node);
  if (!started || kill(started->pid, signal) != 0) {
    return neptune::NotFound("node ", node, " is not running");
  }
  return neptune::OkStatus();
}

}  // namespace search::tools
