// A dependency capsule: the calls that wait for one thing that the node depends on.
//
//                    ┌────────────────────────── capsule ──────────────────────────┐
//   CapsulePermit ───►│ CapsuleControl: bounds, throttle, feedback timeout, bypass   │
//                    │        │                                                     │
//                    │        ▼                                                     │
//                    │ CapsulePolicy: waiting ... ──► with the dependency (bounded) │──► leaves with its outcome
//                    └──────────────────────────────────────────────────────────────┘
//
// A user-level thread inside stays on its kernel thread, parked there; what the capsule holds is its place. Nobody
// uses a capsule but through a CapsulePermit (capsule_permit.h) or RunOnDevice (device_call.h); CapsuleStack finds it.
//
// A capsule that is taken out of its stack takes no new calls. Those inside finish or time out; it goes with the last.
//
// Source: [Chu05] IV.A, IV.C.
// Departs from source: threads wait in place; "kernel threads" bound how many calls are with the dependency at once.
// Threads: thread-safe. No call waits for more than its lock.
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

// What a capsule knows of its calls.
struct CapsuleStatistics {
  CapsuleControl::Statistics control;  // residents, entries, refusals, outcomes, mean time
  size_t waiting_count = 0;
  size_t processing_count = 0;
  uint64_t waited = 0;            // entries that had to wait their turn
  uint64_t terminated = 0;        // by the policy
  uint64_t migrated = 0;          // to another capsule
  uint64_t policy_failures = 0;   // a plug-in threw or broke its contract; FIFO took its place
  Duration mean_waiting_time{0};  // of those that had to, of late
  Duration mean_age{0};           // of those inside now
  Duration tail_time{0};          // 95th percentile of the time inside, of late
  Duration timeout{0};            // that a call would be given now
  bool bypassing = false;
};

// Most calls of such a capsule that are with the dependency at once.
size_t ProcessingCountMax(const CapsuleConfig& config);

class Capsule {
 public:
  // `helpers` of a device capsule: where its calls run; null: where they are made.
  Capsule(CapsuleConfig config, std::unique_ptr<CapsulePolicy> policy,
          std::unique_ptr<HelperThreads> helpers);
  ~Capsule();
  Capsule(const Capsule&) = delete;
  Capsule& operator=(const Capsule&) = delete;

  const std::string& name() const { return name_; }
  ResourceType type() const { return type_; }
  CapsuleConfig config() const;
  // The address and port that its rules name, if they name exactly one.
  std::optional<PeerAddress> peer() const;
  CapsuleStatistics Inspect(TimePoint now) const;
  // The same without ages and tail, which cost microseconds.
  CapsuleStatistics Count() const;
  // Whether something that will lead to a call, such as a connection, is worth beginning: as a visit would be told, but
  // for the policy. Nobody enters; a refusal counts.
  bool WouldAdmit(TimePoint now);
  // Null: its calls run where they are made.
  HelperThreads* helpers() const { return helpers_.get(); }

 private:
  friend class CapsuleStack;
  friend class CapsulePermit;
  friend class DeviceCall;
  using Wakers = std::vector<absl::AnyInvocable<void()>>;

  // Where a visit is.
  enum class Place { kOutside, kDelayed, kWaiting, kProcessing };
  // What became of a visit that wants in.
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
  Arrival Arrive(CapsulePermit& visit, CapsuleCall& call, TimePoint now);
  // What Arrive would have done without the delay: kProcessing or kWaiting.
  Arrival EndDelay(CapsulePermit& visit, CapsuleCall& call, TimePoint now);
  // The visit is over, wherever it is. `left_behind`: its call is still with the dependency, until EndProcessing.
  void Leave(CapsulePermit& visit, CapsuleControl::Outcome outcome, bool left_behind,
             TimePoint now);
  void EndProcessing(TimePoint now);

  // For the stack. Bounds and policy from now on: those inside keep their deadlines, those that wait wait on under the
  // new policy. REQUIRES: the same name and type.
  void Change(CapsuleConfig config, std::unique_ptr<CapsulePolicy> policy, TimePoint now);
  // Nothing enters any more.
  void Close();
  bool empty() const;
  // Waits for what they run. REQUIRES: nothing enters any more.
  void StopHelpers();

  // kProcessing: it is a resident and asks for its turn; the others are final.
  Arrival Admit(CapsulePermit& visit, CapsuleCall& call, TimePoint now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Arrival AcquirePlace(CapsulePermit& visit, CapsuleCall& call, TimePoint now, Wakers* wakers)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives turns while there is room.
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
  uint64_t entered_sum_us_ ABSL_GUARDED_BY(mutex_) = 0;  // of those inside, modulo 2^64
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  Ewma waiting_time_ns_ ABSL_GUARDED_BY(mutex_){0.05};
  RecentTimes times_ ABSL_GUARDED_BY(mutex_);
  CapsuleStatistics statistics_ ABSL_GUARDED_BY(mutex_);  // the counts that no other part keeps
  std::unique_ptr<HelperThreads> helpers_;
};

}  // namespace neptune
