// The unanswered requests of one accepted connection. Internal to server_connection.
//
//   Begin ─► handler ─► Answered inside the handler: never enters the table
//                    └► Returned without an answer ─► table ─► Answered, Cancel or CancelAll
//
// No I/O, no clock.
// Threads: thread-compatible.
// Limits: CallTable::Limits.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {

class CallTable {
 public:
  struct Limits {
    size_t in_flight_count_max;
    size_t stream_count_max;
  };

  explicit CallTable(const Limits& limits) : limits_(limits) {}
  ~CallTable() { CancelAll(); }
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;

  // Returns false if the number is not larger than that of every request before: the answer to the
  // older request would be taken for that of the newer one.
  bool IsNext(uint64_t number) {
    if (number <= last_call_) return false;
    last_call_ = number;
    return true;
  }
  // Errors: kResourceExhausted one more request, or stream, would exceed a limit.
  Status CheckLimits(bool opens_stream) const {
    const bool is_full = calls_.size() >= limits_.in_flight_count_max ||
                         (opens_stream && stream_count_ >= limits_.stream_count_max);
    return is_full ? OverLimit() : OkStatus();
  }

  // The request is passed to its handler, or refused, and may be answered at once.
  void Begin(uint64_t number) { begun_call_ = number; }
  // A call for the request that has begun.
  std::shared_ptr<IncomingCall> MakeCall() {
    return spare_call_ != nullptr ? std::move(spare_call_) : std::make_shared<IncomingCall>();
  }
  // The handler of the request that had begun returned; cancels the call if it was not answered and
  // the connection is not `open` any more.
  void Returned(uint64_t number, std::shared_ptr<IncomingCall> call, bool open);
  // Adds a call with a stream, which is in the table before its handler runs.
  std::shared_ptr<IncomingCall> BeginStream(uint64_t number, std::unique_ptr<StreamOutlet> outlet);

  // Removes the call; returns false if it is unknown, and its answer must not be sent.
  bool Answered(uint64_t number) {
    if (number == begun_call_) {
      begun_call_ = kNoCall;
      return true;
    }
    const auto found = calls_.find(number);
    if (found == calls_.end()) return false;
    Erase(found);
    return true;
  }
  // Removes and cancels the call; its answer will be dropped.
  void Cancel(uint64_t number);
  // Removes and cancels all calls, in the order of their numbers, so that simulated runs are
  // deterministic.
  void CancelAll();

  // True if the call is not answered.
  bool Contains(uint64_t number) const { return number == begun_call_ || calls_.contains(number); }
  // The call if it is in the table, or null.
  IncomingCall* Find(uint64_t number) const {
    const auto found = calls_.find(number);
    return found == calls_.end() ? nullptr : found->second.get();
  }
  // Number of calls in the table.
  size_t size() const { return calls_.size(); }

 private:
  using Calls = absl::flat_hash_map<uint64_t, std::shared_ptr<IncomingCall>>;
  static constexpr uint64_t kNoCall = 0;

  Status OverLimit() const;
  void Erase(Calls::iterator call);
  void KeepForNext(std::shared_ptr<IncomingCall> call);

  const Limits limits_;
  Calls calls_;
  size_t stream_count_ = 0;  // streams in calls_
  uint64_t last_call_ = 0;
  uint64_t begun_call_ = kNoCall;             // in its handler and not answered yet; not in calls_
  std::shared_ptr<IncomingCall> spare_call_;  // for the next request; may be null
};

}  // namespace neptune
