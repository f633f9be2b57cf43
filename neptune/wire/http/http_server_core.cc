#include "neptune/wire/http/http_server_core.h"

#include <algorithm>
#include <atomic>

namespace neptune {

void HttpServerCore::NoteResponse(int status, Duration took) const {
  if (options.metrics == nullptr) return;
  options.metrics->responses[std::clamp(status / 100, 1, 5)]->Increment();
  options.metrics->duration->Record(took);
}

void HttpServerCore::NoteReadError() const {
  if (options.metrics != nullptr) options.metrics->read_errors->Increment();
}

void HttpServerCore::NoteTimeout() const {
  if (options.metrics != nullptr) options.metrics->timeouts->Increment();
}

std::shared_ptr<IncomingCall> HttpServerCore::MakeCall() {
  return spare_call != nullptr ? std::exchange(spare_call, nullptr)
                               : std::make_shared<IncomingCall>();
}

void HttpServerCore::KeepForNext(std::shared_ptr<IncomingCall> call) {
  if (call == nullptr || call.use_count() > 1) return;
  // Pairs with the release of references on other threads.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (call->untouched()) spare_call = std::move(call);
}

void HttpServerCore::HandlerEnded() {
  --running_count;
  if (server != nullptr) server->CheckDrained();
}

}  // namespace neptune
