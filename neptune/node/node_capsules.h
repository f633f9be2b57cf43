// The dependency capsules of a node: loading from the spec, metrics and administration.
//
//   cluster spec ──► capsules of the node, its file, those of the cluster, its file; first on top
//   /metrics     neptune_capsule_*{capsule="NAME"}
//   /statusz     section "capsules"
//   /capsules    GET text; POST text: create or change; DELETE ?name=NAME; both with the token
//
// Source: [Chu05] IV.D.
// Threads: Load must be called before the stack is used; the rest runs on any thread.
// Errors: Load: kInvalidArgument "FILE:LINE: reason"; those of CapsuleStack::Load.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/blocking_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/wire/http/http_message.h"
#include "neptune/world/world.h"

namespace neptune {

// Returns the capsules that the spec defines for the node, top first. `folder`: base of relative
// paths.
StatusOr<std::vector<CapsuleConfig>> CapsulesOf(const ClusterSpec& spec, const NodeId& node,
                                                const std::string& folder,
                                                std::vector<std::string>* warnings);

class NodeCapsules {
 public:
  // `with_default`, `device_time`: see CapsuleStackOptions; `device_time` may be null.
  NodeCapsules(World& world, MetricsRegistry& metrics, bool with_default,
               std::function<Duration(std::string_view path)> device_time);

  CapsuleStack& stack() { return stack_; }
  // Loads the capsules of the spec, and logs the warnings.
  Status Load(const ClusterSpec& spec, const NodeId& node, const std::string& folder);

  void Describe(StatusReport* report) const;
  HttpResponse Show() const;
  // Creates or changes the capsules in the request body. Plug-ins are refused; only files may name
  // them.
  HttpResponse Put(const HttpRequest& request);
  HttpResponse Remove(const HttpRequest& request);

 private:
  // Adds warnings about conflicts between posted and other capsules.
  void WarnOfOthers(const std::vector<CapsuleConfig>& posted,
                    std::vector<std::string>* warnings) const;
  // Adds and removes metrics to match the existing capsules.
  void SyncMetrics();
  std::vector<CallbackGauge> MetricsOf(const std::shared_ptr<Capsule>& capsule);

  MetricsRegistry& metrics_;
  BlockingMutex series_mutex_;
  std::map<const Capsule*, std::vector<CallbackGauge>> series_ ABSL_GUARDED_BY(series_mutex_);
  CapsuleStack stack_;
};

}  // namespace neptune
