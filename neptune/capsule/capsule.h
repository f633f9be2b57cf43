// A dependency capsule: a bounded place for the calls that wait for one dependency of the node.
//
//                    ┌─────────────────────────── capsule ──────────────────────────┐
//  CapsulePermit ───►│ CapsuleControl: bounds, throttle, feedback timeout, bypass   │
//                    │        │                                                     │
//                    │        ▼                                                     │
//                    │ CapsulePolicy: waiting ... ──► with the dependency (bounded) │──► outcome
//                    └──────────────────────────────────────────────────────────────┘
//
// A user-level thread inside stays parked on its kernel thread; the capsule only counts it. Callers
// use a capsule only through CapsulePermit (capsule_permit.h) or RunOnDevice (device_call.h), and
// find it through CapsuleStack.
//
// A capsule that was removed from its stack admits no new calls. Calls inside finish or time out;
// the last one releases the capsule.
//
// Source: [Chu05] IV.A, IV.C.
// Departs from source: threads wait in place; instead of kernel threads, a bound limits how many
//   calls are with the dependency at once.
// Threads: thread-safe. No function blocks except on the capsule's own lock.
// Units: times are those of the caller's loop; all users of a capsule share one world.
// Limits: CapsuleConfig.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/base/ewma.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/capsule/capsule_config.h"
#include "neptune/capsule/capsule_control.h"
#include "neptune/capsule/capsule_policy.h"
#include "neptune/capsule/recent_times.h"
#include "neptune/world/helper_threads.h"

namespace neptune {

class CapsulePermit;
class QuickPlaces;

// Counters and times of one capsule.
struct CapsuleStatistics {
  CapsuleControl::Statistics control;  // residents, entries, refusals, outcomes, mean time
  size_t waiting_count = 0;
  size_t processing_count = 0;
  uint64_t waited = 0;            // entries that had to wait for their turn
  uint64_t terminated = 0;        // calls that the policy ended
  uint64_t migrated = 0;          // calls sent to another capsule
  uint64_t policy_failures = 0;   // plug-ins replaced by FIFO: they threw or broke the contract
  Duration mean_waiting_time{0};  // moving average over the calls that had to wait
  Duration mean_age{0};           // mean age of the calls inside now
  Duration tail_time{0};          // 95th percentile of recent times inside
  Duration timeout{0};            // timeout of a call that entered now
  bool bypassing = false;
};

// Effective processing_count_max: the configured value, or the default of the capsule's type.
size_t ProcessingCountMax(const CapsuleConfig& config);

class Capsule {
 public:
  // `helpers` run the calls of a device capsule; null: calls run on the calling thread.
  Capsule(CapsuleConfig config, std::unique_ptr<CapsulePolicy> policy,
          std::unique_ptr<HelperThreads> helpers);
  ~Capsule();
  Capsule(const Capsule&) = delete;
  Capsule& operator=(const Capsule&) = delete;

  const std::string& name() const { return name_; }
  ResourceType type() const { return type_; }
  CapsuleConfig config() const;
  // The peer of the only rule, if that rule names exactly one address and port.
  std::optional<PeerAddress> peer() const;
  CapsuleStatistics Inspect(TimePoint now) const;
  // Like Inspect, without mean_age and tail_time, which cost microseconds.
  CapsuleStatistics Count() const;
  // Admission check without entering, e.g. before connecting. Ignores the queueing policy. A
  // refusal or bypass is counted.
  bool WouldAdmit(TimePoint now);
  // Null: calls run on the calling thread.
  HelperThreads* helpers() const { return helpers_.get(); }

 private:
  friend class CapsuleStack;
  friend class CapsulePermit;
  friend class DeviceCall;
  using Wakers = std::vector<absl::AnyInvocable<void()>>;

  // State of a permit in the capsule.
  enum class Place { kOutside, kDelayed, kWaiting, kProcessing };
  // Result of an attempt to enter.
  enum class Arrival {
    kProcessing,
    kWaiting,
    kDelayed,
    kRefused,
    kBypassed,
    kTerminated,
    kMigrates,
    kGone,  // the capsule is closed
  };
  // Enters without the lock if the calling thread has a place of its own; see quick_places.h.
  bool TryEnterQuickly(CapsulePermit& visit, TimePoint deadline, TimePoint now);
  Arrival Arrive(CapsulePermit& visit, CapsuleCall& call, TimePoint now);
  // Ends a policy's delay: acquires a place or starts to wait (kProcessing or kWaiting).
  Arrival EndDelay(CapsulePermit& visit, CapsuleCall& call, TimePoint now);
  // Ends the permit in whatever state it is. With `left_behind` its call is still with the
  // dependency and keeps its place until EndProcessing.
  void Leave(CapsulePermit& visit, CapsuleControl::Outcome outcome, bool left_behind,
             TimePoint now);
  void EndProcessing(TimePoint now);

  // Called by CapsuleStack. Replaces bounds and policy: calls inside keep their deadlines, waiting
  // calls move to the new policy. REQUIRES: the same name and type.
  void Change(CapsuleConfig config, std::unique_ptr<CapsulePolicy> policy, TimePoint now);
  // Admits no further calls.
  void Close();
  bool empty() const;
  // Waits for the calls that the helper threads run. REQUIRES: Close was called.
  void StopHelpers();

  // Gives the calling thread places of its own, if the configuration allows it.
  bool LeasePlaces();
  // Applies the configuration to the places of threads.
  void SetQuickPlaces() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // kProcessing: the call is admitted and must next acquire a place; other results are final.
  Arrival Admit(CapsulePermit& visit, CapsuleCall& call, TimePoint now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Arrival AcquirePlace(CapsulePermit& visit, CapsuleCall& call, TimePoint now, Wakers* wakers)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Starts waiting calls, in the policy's order, while there is room.
  void StartWaiting(TimePoint now, Wakers* wakers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void Wake(Wakers wakers);
  CapsuleStatistics Counted() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  CapsuleOccupancy Occupancy() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  template <typename Function>
  bool WithPolicy(Function&& function) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DistrustPolicy(std::string_view why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReplacePolicy(std::unique_ptr<CapsulePolicy> policy) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  struct Waiting {
    CapsuleCall call;
    CapsulePermit* visit = nullptr;
  };

  const std::string name_;
  const ResourceType type_;
  mutable LeafMutex mutex_;
  CapsuleConfig config_ ABSL_GUARDED_BY(mutex_);
  CapsuleControl control_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<CapsulePolicy> policy_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  size_t processing_count_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t entered_sum_us_ ABSL_GUARDED_BY(mutex_) = 0;  // sum over calls inside, modulo 2^64
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  Ewma waiting_time_ns_ ABSL_GUARDED_BY(mutex_){0.05};
  RecentTimes times_ ABSL_GUARDED_BY(mutex_);
  CapsuleStatistics statistics_ ABSL_GUARDED_BY(mutex_);  // only counts kept nowhere else
  const std::unique_ptr<QuickPlaces> quick_;
  std::unique_ptr<HelperThreads> helpers_;
};

}  // namespace neptune
