// The capsules of a node as a stack: a blocking operation belongs to the top-most one that takes
// it.
//
//   top     service:cache/0        network     a capsule takes an operation of its type that one of
//           inet:10.0.0.0/8:5432   network     its rules accepts
//           disk:/var/store/**     device
//   bottom  default                network     takes every other network operation; there unless
//                                              the stack was made without it
//
// A device operation that no capsule takes runs on the calling thread.
//
// Capsules can be created, changed and destroyed at run time while calls pass. Readers see a
// consistent snapshot of the whole stack.
//
// Source: [Chu05] IV.B (stack, default network capsule), IV.D (dynamic creation and destruction).
// Threads: thread-safe; changes are made on a loop, whose time they use. Find costs an atomic load
//   and the matching, which is remembered for operations that name a service; after a change each
//   kernel thread fetches the new stack once, under a lock.
// Errors: kInvalidArgument invalid definition; kFailedPrecondition the name is taken, or the
//   default capsule would be destroyed; kNotFound no such capsule, or none to migrate to;
//   kResourceExhausted more than kCapsuleCountMax.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/capsule/capsule.h"
#include "neptune/capsule/capsule_config.h"
#include "neptune/capsule/classification_rule.h"
#include "neptune/world/helper_threads.h"

namespace neptune {

struct CapsuleStackOptions {
  // Creates the helper threads of a device capsule: World::MakeHelperThreads, or
  // MakeRealHelperThreads without a World. Unset or returning null (simulated world): device calls
  // run on the calling thread.
  std::function<std::unique_ptr<HelperThreads>(const std::string& name, int count)> make_helpers;
  // Modelled duration of a call to the device of `path` without helper threads. Default: zero.
  std::function<Duration(std::string_view path)> device_time;
  // The stack ends with the default capsule. False: it has none, and a network operation that no
  // other capsule takes waits for its own deadline, unbounded and uncounted; a definition of
  // `default` is refused. Default: true, because a bound that was not thought of is better than
  // none.
  bool with_default = true;
  // Called after each change of the stack, on the changing thread; it must not change the stack.
  std::function<void()> on_change;
};

// Configuration and statistics of one capsule, for status pages.
struct CapsuleReport {
  CapsuleConfig config;
  CapsuleStatistics statistics;
};

class CapsuleStack {
 public:
  explicit CapsuleStack(CapsuleStackOptions options = {});
  // Waits for the calls that helper threads run. REQUIRES: no permit is inside any of the capsules.
  ~CapsuleStack();
  CapsuleStack(const CapsuleStack&) = delete;
  CapsuleStack& operator=(const CapsuleStack&) = delete;

  // The capsule that the operation belongs to; null: none.
  std::shared_ptr<Capsule> Find(const BlockingOperation& operation) const;
  // The capsule of that name; null: none.
  std::shared_ptr<Capsule> Named(std::string_view name) const;
  // The same for the calling thread.
  class Use;
  Use FindForUse(const BlockingOperation& operation) const;
  Use NamedForUse(std::string_view name) const;

  // Puts a new capsule on top of the stack, or right above the one named.
  Status Create(const CapsuleConfig& config, std::string_view above = {});
  // Replaces the definition of the capsule of that name, which keeps its position and type.
  Status Change(const CapsuleConfig& config);
  // Removes the capsule. Later calls go to the capsules below; calls inside finish or time out.
  Status Destroy(std::string_view name);
  // Changes the capsules that exist (the default one always does) and puts the new ones on top in
  // their order, the first at the very top. All or nothing.
  Status Load(const std::vector<CapsuleConfig>& configs);

  // All capsules, the top of the stack first.
  std::vector<std::shared_ptr<Capsule>> All() const;
  std::vector<CapsuleReport> Inspect(TimePoint now) const;
  // Increases with each change.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  const CapsuleStackOptions& options() const { return options_; }

 private:
  struct Layer {
    std::shared_ptr<Capsule> capsule;
    std::vector<ClassificationRule> rules;
  };
  using Layers = std::vector<Layer>;
  // The layers as a thread has seen them, which stay while its uses refer to them.
  struct Snapshot {
    std::shared_ptr<const Layers> layers;
    size_t use_count = 0;
  };
  struct KnownOperation;
  struct LayersOfThread;

  static void Drop(Snapshot* snapshot) {
    if (--snapshot->use_count == 0) delete snapshot;
  }
  LayersOfThread& CurrentLayers() const;
  static const Layer* FindLayer(LayersOfThread& seen, const BlockingOperation& operation);
  // The first layer whose rules take the operation; null: none.
  static const Layer* FindByRules(const Layers& layers, const BlockingOperation& operation);
  StatusOr<std::shared_ptr<Capsule>> Make(const CapsuleConfig& config) const;
  // A validated change of an existing capsule.
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
  const uint64_t number_;  // unique among all stacks ever created in the process
  std::atomic<uint64_t> version_{0};
  LeafMutex change_mutex_;  // serializes changes; acquired before mutex_, never by readers
  std::vector<std::shared_ptr<Capsule>> retired_
      ABSL_GUARDED_BY(change_mutex_);  // destroyed, perhaps not empty yet
  mutable LeafMutex mutex_;
  std::shared_ptr<const Layers> layers_ ABSL_GUARDED_BY(mutex_);
};

// A capsule that a thread uses. It keeps the capsule alive with a count of its thread, so that it
// costs no locked instruction.
//
// Threads: only the one that made it; any other once that has ended.
class CapsuleStack::Use {
 public:
  Use() = default;
  Use(Use&& other) noexcept
      : capsule_(std::exchange(other.capsule_, nullptr)),
        snapshot_(std::exchange(other.snapshot_, nullptr)) {}
  Use& operator=(Use&& other) noexcept {
    std::swap(capsule_, other.capsule_);
    std::swap(snapshot_, other.snapshot_);
    return *this;
  }
  ~Use() {
    if (snapshot_ != nullptr) Drop(snapshot_);
  }

  Capsule* get() const { return capsule_; }
  Capsule* operator->() const { return capsule_; }
  // For other threads.
  std::shared_ptr<Capsule> Share() const;

 private:
  friend class CapsuleStack;
  // `capsule` is one of the snapshot's; null: none.
  Use(Capsule* capsule, Snapshot* snapshot) : capsule_(capsule), snapshot_(snapshot) {
    if (capsule_ != nullptr) {
      ++snapshot_->use_count;
    } else {
      snapshot_ = nullptr;
    }
  }

  Capsule* capsule_ = nullptr;
  Snapshot* snapshot_ = nullptr;  // null without a capsule
};

}  // namespace neptune
