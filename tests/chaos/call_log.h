// The calls of a chaos run: what each asked for and got, and what servers did for it.
//
// Threads: the simulation's thread.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune::chaos {

struct CallRecord {
  int64_t id = 0;
  std::string caller;  // host
  std::string method;
  uint32_t partition = 0;
  bool write = false;
  TimePoint begin;
  TimePoint deadline;
  // The outcome:
  bool ended = false;
  bool abandoned = false;  // its host crashed
  TimePoint ended_at;
  Status status;
  std::string reply;
  std::string server;  // the last one tried
  // The register that the write belongs to: each time a server does the write, it inserts the id.
  std::string inserted;

  std::string ToString() const;
};

// A method that runs for a call.
struct Execution {
  int64_t call = 0;
  std::string host;
  TimePoint begin;
};

class CallLog {
 public:
  CallRecord& Begin(CallRecord call);
  // Does nothing for a call that was abandoned.
  void End(CallRecord& call, TimePoint now);
  // Ends all calls of a host that is gone, and all executions on it.
  void Abandon(const std::string& host, TimePoint now);

  CallRecord* Find(int64_t id);
  uint64_t BeginExecution(Execution execution);
  void EndExecution(uint64_t token) { executions_.erase(token); }

  const std::map<int64_t, CallRecord>& calls() const { return calls_; }
  // Calls that have not ended, in order of their deadlines.
  const std::set<std::pair<TimePoint, int64_t>>& open() const { return open_; }
  const std::map<uint64_t, Execution>& executions() const { return executions_; }

 private:
  std::map<int64_t, CallRecord> calls_;
  std::set<std::pair<TimePoint, int64_t>> open_;
  std::map<uint64_t, Execution> executions_;
  uint64_t next_execution_ = 1;
};

}  // namespace neptune::chaos
