#include "neptune/wire/call_table.h"

#include <algorithm>
#include <atomic>
#include <vector>

namespace neptune {

Status CallTable::OverLimit() const {
  if (calls_.size() >= limits_.in_flight_count_max) {
    return ResourceExhausted(calls_.size(), " requests of this connection are unanswered");
  }
  return ResourceExhausted(stream_count_, " streams of this connection are open");
}

void CallTable::Returned(uint64_t number, std::shared_ptr<IncomingCall> call, bool open) {
  if (std::exchange(begun_call_, kNoCall) == kNoCall) return KeepForNext(std::move(call));
  if (!open) return call->Cancel();
  calls_.emplace(number, std::move(call));
}

// Recycles an answered call that has no other references and was never changed.
void CallTable::KeepForNext(std::shared_ptr<IncomingCall> call) {
  if (call.use_count() > 1) return;
  // Pairs with the release of other references.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (call->untouched()) spare_call_ = std::move(call);
}

std::shared_ptr<IncomingCall> CallTable::BeginStream(uint64_t number,
                                                     std::unique_ptr<StreamOutlet> outlet) {
  auto call = std::make_shared<IncomingCall>(std::move(outlet));
  ++stream_count_;
  calls_.emplace(number, call);
  return call;
}

void CallTable::Erase(Calls::iterator call) {
  if (call->second->stream() != nullptr) --stream_count_;
  calls_.erase(call);
}

void CallTable::Cancel(uint64_t number) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  const std::shared_ptr<IncomingCall> call = found->second;
  Erase(found);
  call->Cancel();
}

void CallTable::CancelAll() {
  stream_count_ = 0;
  std::vector<std::pair<uint64_t, std::shared_ptr<IncomingCall>>> calls(calls_.begin(),
                                                                        calls_.end());
  calls_.clear();
  std::sort(calls.begin(), calls.end());
  for (const auto& [number, call] : calls) call->Cancel();
}

}  // namespace neptune
