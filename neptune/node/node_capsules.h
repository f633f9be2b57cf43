// The dependency capsules of a node: as the spec defines them, as people see and change them.
//
//   cluster spec ──► capsules of the node, its file, those of the cluster, its file; the first on top
//   /metrics     neptune_capsule_*{capsule="NAME"}
//   /statusz     section "capsules"
//   /capsules    GET their text; POST text: creates or changes; DELETE ?name=NAME; both with the token
//
// Source: [Chu05] IV.D.
// Threads: Load before the stack is used; the rest from any thread.
// Errors: Load: kInvalidArgument "FILE:LINE: reason"; those of CapsuleStack::Load.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/capsule/capsule_text.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/wire/http/http_message.h"
#include "neptune/world/world.h"

namespace neptune {

// What the spec defines for the node, the top first. `folder`: where relative paths start.
StatusOr<std::vector<CapsuleConfig>> CapsulesOf(const ClusterSpec& spec, const NodeId& node,
                                                const std::string& folder,
                                                std::vector<std::string>* warnings);

class NodeCapsules {
 public:
  // `device_time`: see CapsuleStackOptions; may be null.
  NodeCapsules(World& world, MetricsRegistry& metrics,
               std::function<Duration(std::string_view path)> device_time);

  CapsuleStack& stack() { return stack_; }
  // What the spec says, with its warnings in the log.
  Status Load(const ClusterSpec& spec, const NodeId& node, const std::string& folder);

  void Describe(StatusReport* report) const;
  HttpResponse Show() const;
  // The text of the body creates or changes. Plug-ins are refused: files name them.
  HttpResponse Put(const HttpRequest& request);
  HttpResponse Remove(const HttpRequest& request);

 private:
  // Of conflicts between those posted and the others.
  void WarnOfOthers(const std::vector<CapsuleConfig>& posted,
                    std::vector<std::string>* warnings) const;
  // Metrics of the capsules that there are.
  void SyncMetrics();
  std::vector<CallbackGauge> MetricsOf(const std::shared_ptr<Capsule>& capsule);

  MetricsRegistry& metrics_;
  absl::Mutex series_mutex_;
  std::map<const Capsule*, std::vector<CallbackGauge>> series_ ABSL_GUARDED_BY(series_mutex_);
  CapsuleStack stack_;
};

}  // namespace neptune
