#include "tests/chaos/call_log.h"

#include "neptune/base/strings.h"

namespace neptune::chaos {

std::string CallRecord::ToString() const {
  std::string text =
      StrCat("call ", id, " of ", caller, ", ", method, "/", partition, " for ",
             ToMillis(deadline - begin), " ms from ", ToSeconds(begin.time_since_epoch()), " s");
  if (ended) {
    StrAppend(&text, ", ended after ", ToMillis(ended_at - begin), " ms at ",
              server.empty() ? "no server" : server, ": ", status.ToString());
  }
  return text;
}

CallRecord& CallLog::Begin(CallRecord call) {
  call.id = static_cast<int64_t>(calls_.size()) + 1;
  open_.emplace(call.deadline, call.id);
  return calls_[call.id] = std::move(call);
}

void CallLog::End(CallRecord& call, TimePoint now) {
  if (call.abandoned) return;
  open_.erase({call.deadline, call.id});
  call.ended = true;
  call.ended_at = now;
}

void CallLog::Abandon(const std::string& host, TimePoint now) {
  for (auto& [id, call] : calls_) {
    if (call.ended || call.abandoned || call.caller != host) continue;
    call.abandoned = true;
    call.ended_at = now;
    open_.erase({call.deadline, id});
  }
  std::erase_if(executions_, [&](const auto& item) { return item.second.host == host; });
}

CallRecord* CallLog::Find(int64_t id) {
  const auto found = calls_.find(id);
  return found == calls_.end() ? nullptr : &found->second;
}

uint64_t CallLog::BeginExecution(Execution execution) {
  executions_.emplace(next_execution_, std::move(execution));
  return next_execution_++;
}

}  // namespace neptune::chaos
