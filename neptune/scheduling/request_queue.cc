#include "neptune/scheduling/request_queue.h"

#include <algorithm>
#include <utility>

namespace neptune {

bool RequestQueue::Push(WaitingRequest request) {
  if (waiting_.size() >= options_.length_max) return false;
  waiting_.push_back(std::move(request));
  return true;
}

RequestQueue::Picked RequestQueue::Pick(TimePoint now) {
  Picked picked;
  while (!waiting_.empty()) {
    WaitingRequest request = std::move(waiting_.front());
    waiting_.pop_front();
    if (request.deadline > now) {
      picked.next = std::move(request);
      break;
    }
    picked.expired.push_back(std::move(request));
  }
  return picked;
}

bool RequestQueue::Remove(RequestTicket ticket) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const WaitingRequest& w) { return w.ticket == ticket; });
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  return true;
}

}  // namespace neptune
