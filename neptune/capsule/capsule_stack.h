// The capsules of a node, one over the other: a blocking operation belongs to the top-most one that takes it.
//
//   top     service:cache/0        network     a capsule takes an operation of its type that one of
//           inet:10.0.0.0/8:5432   network     its rules accepts
//           disk:/var/store/**     device
//   bottom  default                network     takes every other network operation; always there
//
// A device operation that no capsule takes has none: it runs where it is made.
//
// What may be changed at run time is: capsules are made, changed and destroyed while calls pass. Readers see one
// whole stack or the next one.
//
// Source: [Chu05] IV.B (stack, default network capsule), IV.D (dynamic creation and destruction).
// Threads: thread-safe; changes are made on a loop, whose time they use. Find costs an atomic load and the matching; after a change each kernel thread fetches the new
//   stack once.
// Errors: kInvalidArgument of a definition; kFailedPrecondition the name is taken, or the default capsule is to be
//   destroyed or given rules; kNotFound no capsule of that name, or none to migrate to; kResourceExhausted kCapsuleCountMax.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/capsule/capsule.h"
#include "neptune/capsule/capsule_config.h"
#include "neptune/capsule/classification_rule.h"
#include "neptune/world/helper_threads.h"

namespace neptune {

struct CapsuleStackOptions {
  // Makes the helper threads of a device capsule: World::MakeHelperThreads, or MakeRealHelperThreads where there is
  // no World. Absent, or null from it: device calls run where they are made, in the simulated world.
  std::function<std::unique_ptr<HelperThreads>(const std::string& name, int count)> make_helpers;
  // How long the device of `path` takes for a call, where there are no helpers. Default: no time.
  std::function<Duration(std::string_view path)> device_time;
  // Called after each change of which capsules there are, by whoever made it; it must make none itself.
  std::function<void()> on_change;
};

// What is shown of one capsule.
struct CapsuleReport {
  CapsuleConfig config;
  CapsuleStatistics statistics;
};

class CapsuleStack {
 public:
  explicit CapsuleStack(CapsuleStackOptions options = {});
  // Waits for what helper threads run. REQUIRES: no visit is inside any of its capsules.
  ~CapsuleStack();
  CapsuleStack(const CapsuleStack&) = delete;
  CapsuleStack& operator=(const CapsuleStack&) = delete;

  // The capsule that the operation belongs to; null: none.
  std::shared_ptr<Capsule> Find(const BlockingOperation& operation) const;
  // The capsule of that name; null: none.
  std::shared_ptr<Capsule> Named(std::string_view name) const;

  // Puts a new capsule on top of the stack, or right above the one named.
  Status Create(const CapsuleConfig& config, std::string_view above = {});
  // Gives the capsule of that name another definition, in its place of the stack; its type stays.
  Status Change(const CapsuleConfig& config);
  // Calls that come later fall to the capsules below; those inside finish or time out.
  Status Destroy(std::string_view name);
  // Changes those that are there, as the default one is; puts the others on top in their order, the first one above
  // all. All or none.
  Status Load(const std::vector<CapsuleConfig>& configs);

  // From the top to the bottom.
  std::vector<std::shared_ptr<Capsule>> All() const;
  std::vector<CapsuleReport> Inspect(TimePoint now) const;
  // Rises with each change.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  const CapsuleStackOptions& options() const { return options_; }

 private:
  struct Layer {
    std::shared_ptr<Capsule> capsule;
    std::vector<ClassificationRule> rules;
  };
  using Layers = std::vector<Layer>;
  struct LayersOfThread;

  const Layers& CurrentLayers() const;
  StatusOr<std::shared_ptr<Capsule>> Make(const CapsuleConfig& config) const;
  // A change of a capsule that is there, checked and ready to be made.
  struct Plan {
    std::shared_ptr<Capsule> capsule;
    const CapsuleConfig* config = nullptr;
    std::unique_ptr<CapsulePolicy> policy;
  };
  static StatusOr<Plan> PlanChange(Layer* layer, const CapsuleConfig& config);
  static Layers::iterator FindNamed(Layers& layers, std::string_view name);
  static Status CheckTarget(const Layers& layers, const CapsuleConfig& config);
  Layers Copy() const;
  void Publish(Layers layers);
  void Retire(std::shared_ptr<Capsule> capsule) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);

  const CapsuleStackOptions options_;
  const uint64_t number_;  // of this stack among all there ever were in the process
  std::atomic<uint64_t> version_{0};
  absl::Mutex change_mutex_;  // held by one change at a time, before mutex_; no reader waits for it
  std::vector<std::shared_ptr<Capsule>> retired_
      ABSL_GUARDED_BY(change_mutex_);  // destroyed, perhaps not empty yet
  mutable LeafMutex mutex_;
  std::shared_ptr<const Layers> layers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
