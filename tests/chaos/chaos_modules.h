// The two modules of a chaos cluster: one serves, one calls.
//
// Methods of the serving one; each answers with AnswerTo of its request:
//   Echo    long   two milliseconds of a processor
//   Linger  long   waits for a second, or until its caller is gone
//   Relay   long   calls Echo of the other partition within its own deadline
//   Quick   short
//   Write   short  a write
//
// Threads: the simulation's thread.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "neptune/node/node.h"
#include "tests/chaos/call_log.h"
#include "tests/chaos/planted_bug.h"

namespace neptune::chaos {

inline constexpr uint32_t kPartitionCount = 2;
inline constexpr size_t kConcurrency = 8;
inline constexpr size_t kQueueLengthMax = 40;
// Calls of an occasional burst: more than may run and wait.
inline constexpr int kBurstCallCount = 80;

// The places of a server's pool, as its long requests see them.
class PoolUse {
 public:
  // `is_fresh`: the request begins; false if it returns after a wait outside of the pool.
  void Take(TimePoint now, bool is_fresh);
  void GiveBack(TimePoint now);
  size_t taken_count() const { return taken_count_; }
  // Whether every place has been occupied since then (handovers aside), without a new request
  // getting one.
  bool NoneWasFree(TimePoint since, TimePoint now) const;

 private:
  size_t taken_count_ = 0;
  TimePoint full_since_{};
  TimePoint full_until_{};
  TimePoint latest_fresh_{};
};

// State that the modules of all nodes share with the run.
struct ChaosState {
  CallLog calls;
  std::map<std::string, std::shared_ptr<PoolUse>> pools;  // by server
  PlantedBug bug = PlantedBug::kNone;
  std::set<std::string> hanging;  // hosts whose long requests hang
  bool calling = true;            // callers make calls
  TimePoint last_burst{};
  // Reports a violation.
  std::function<void(const std::string& check, const std::string& what)> wrong;
  // Called when a server has done a write.
  std::function<void(const CallRecord&)> on_inserted;
  // Called when a call has ended.
  std::function<void(const CallRecord&)> on_ended;

  // Inserts the call's id into its register, as a write does.
  void Insert(CallRecord& call);
};

std::string AnswerTo(const CallRecord& call);

// Modules "server" and "caller".
ModuleFactory ChaosModules(ChaosState* state);

}  // namespace neptune::chaos
