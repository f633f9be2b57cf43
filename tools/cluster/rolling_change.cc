#include "tools/cluster/rolling_change.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::Status;

RollingNode* FindNode(RollingChange* change, const std::string& node) {
  const auto found = std::find_if(change->nodes.begin(), change->nodes.end(),
                                  [&](const RollingNode& one) { return one.node == node; });
  return found == change->nodes.end() ? nullptr : &*found;
}

void RemoveHosted(const std::string& node, const std::string& service, ClusterChanges* changes) {
  std::erase_if(changes->hosted, [&](const HostedChange& one) {
    return one.node == node && one.service == service;
  });
}

void SetHosted(HostedChange hosted, ClusterChanges* changes) {
  RemoveHosted(hosted.node, hosted.service, changes);
  changes->hosted.push_back(std::move(hosted));
}

Status RestartNode(const RollingStep& step, ClusterChanges* changes, RollingHost& host) {
  RollingChange& change = *changes->under_way;
  const bool returns = FindNode(&change, step.node)->stage == NodeStage::kReturning;
  const std::string service = change.change ? change.change->service : "";
  const Status status =
      host.Restart(step.node, service, returns ? std::string() : change.implementation);
  if (returns && !status.ok()) return status;
  // It is not known whether the node comes back: keep the record, so that the change can be
  // resumed.
  if (status.code() == neptune::StatusCode::kCancelled) return status;
  Conclude(step.node, status, changes);
  return host.Save(*changes);
}

}  // namespace

const HostedChange* FindHosted(const ClusterChanges& changes, const std::string& node,
                               const std::string& service) {
  const auto found = std::find_if(
      changes.hosted.begin(), changes.hosted.end(),
      [&](const HostedChange& one) { return one.node == node && one.service == service; });
  return found == changes.hosted.end() ? nullptr : &*found;
}

RollingStep NextStep(const RollingChange& change) {
  for (const RollingNode& node : change.nodes) {
    switch (node.stage) {
      case NodeStage::kWaiting:
        return {RollingStep::Kind::kDecide, node.node};
      case NodeStage::kChanging:
      case NodeStage::kReturning:
        return {RollingStep::Kind::kRestart, node.node};
      case NodeStage::kReturned:
        return {RollingStep::Kind::kStopped, node.node};
      case NodeStage::kChanged:
        break;
    }
  }
  return {RollingStep::Kind::kDone, ""};
}

void Decide(const std::string& node, ClusterChanges* changes) {
  RollingChange& change = *changes->under_way;
  RollingNode& rolling = *FindNode(&change, node);
  rolling.stage = NodeStage::kChanging;
  if (!change.change) return;
  const HostedChange* const before = FindHosted(*changes, node, change.change->service);
  rolling.before = before == nullptr ? std::nullopt : std::optional(*before);
  HostedChange hosted = *change.change;
  hosted.node = node;
  SetHosted(std::move(hosted), changes);
}

void Conclude(const std::string& node, const Status& status, ClusterChanges* changes) {
  RollingChange& change = *changes->under_way;
  RollingNode& rolling = *FindNode(&change, node);
  if (rolling.stage == NodeStage::kReturning) {
    rolling.stage = NodeStage::kReturned;
  } else if (status.ok()) {
    rolling.stage = NodeStage::kChanged;
  } else {
    rolling.stage = NodeStage::kReturning;
    change.failure = neptune::ToStd(status.message());
    if (!change.change) return;
    RemoveHosted(node, change.change->service, changes);
    if (rolling.before) SetHosted(*rolling.before, changes);
  }
}

Status RunRollingChange(ClusterChanges* changes, RollingHost& host) {
  // A resumed change may be the first one to start nodes with the recorded settings.
  NEPTUNE_RETURN_IF_ERROR(host.Save(*changes));
  while (true) {
    const RollingStep step = NextStep(*changes->under_way);
    switch (step.kind) {
      case RollingStep::Kind::kDecide:
        NEPTUNE_RETURN_IF_ERROR(host.MayTakeDown(step.node));
        Decide(step.node, changes);
        NEPTUNE_RETURN_IF_ERROR(host.Save(*changes));
        break;
      case RollingStep::Kind::kRestart:
        NEPTUNE_RETURN_IF_ERROR(RestartNode(step, changes, host));
        break;
      case RollingStep::Kind::kDone:
        changes->under_way.reset();
        return host.Save(*changes);
      case RollingStep::Kind::kStopped: {
        const std::string failure = changes->under_way->failure;
        changes->under_way.reset();
        NEPTUNE_RETURN_IF_ERROR(host.Save(*changes));
        return neptune::FailedPrecondition("stopped at node ", step.node,
                                           ", which was restored: ", failure);
      }
    }
  }
}

}  // namespace search::tools
