#include "neptune/wire/http/http_server_core.h"

#include <algorithm>
#include <atomic>

#include "absl/strings/numbers.h"
#include "neptune/base/strings.h"
#include "neptune/wire/http/http_connection_table.h"
#include "neptune/wire/http/http_pipeline.h"
#include "neptune/wire/http/message_writer.h"

namespace neptune {

void HttpServerCore::NoteResponse(int status, Duration took) const {
  if (options.metrics == nullptr) return;
  options.metrics->responses[std::clamp(status / 100, 1, 5)]->Increment();
  options.metrics->duration->Record(took);
}

void HttpServerCore::NoteShort(int answered_count, int refused_count, Duration took) const {
  if (options.metrics == nullptr) return;
  for (int i = 0; i < answered_count; ++i) NoteResponse(200, took);
  for (int i = 0; i < refused_count; ++i) NoteResponse(503, took);
  options.metrics->short_answers->Increment(static_cast<uint64_t>(answered_count));
}

std::string_view HttpServerCore::Date(TimePoint now) {
  if (now < date_until) return date;
  constexpr Duration kSecond = std::chrono::seconds(1);
  const WallTime wall = world.wall_time();
  date = FormatHttpDate(wall);
  const Duration in_second(wall.ns_since_1970 % kSecond.count());
  date_until = now + (in_second < Duration(0) ? -in_second : kSecond - in_second);
  return date;
}

// What the application refuses does not count as malformed.
void HttpServerCore::NoteReadError(const HttpReadError& error) const {
  if (options.metrics == nullptr) return;
  if (error.response) return options.metrics->bodies_refused_at_header->Increment();
  if (error.status == 503) return options.metrics->bodies_without_room->Increment();
  if (error.status == 408) return;  // counted as a timeout
  if (error.status == 413) options.metrics->bodies_too_large->Increment();
  options.metrics->read_errors->Increment();
}

void HttpServerCore::NoteFailure() const {
  if (options.metrics != nullptr) options.metrics->handler_failures->Increment();
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

// Here, so that programs which only read messages do not link the calls of servers.
bool HttpRequest::ClientGone() const { return call != nullptr && call->cancelled(); }

void HttpServerCore::ConnectionEnded(uint64_t id) {
  if (table != nullptr) table->Remove(id);
  if (server != nullptr) server->CheckDrained();
}

TimePoint HttpServerCore::HoldUntil(const HttpResponse& response, HttpPlaces::Place* place) {
  if (response.status != 503 && response.status != 429) return HttpPipeline::kNotHeld;
  constexpr int64_t kSecondsMax = 3600;
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(ToAbsl(response.headers.Get("Retry-After")), &seconds) || seconds <= 0) {
    return HttpPipeline::kNotHeld;
  }
  const TimePoint now = loop.Now();
  const TimePoint send_at = refusals.SendAt(std::chrono::seconds(std::min(seconds, kSecondsMax)),
                                            now, &place->asked_until());
  if (send_at == now) return HttpPipeline::kNotHeld;
  if (options.metrics != nullptr) options.metrics->refusals_held->Increment();
  return send_at;
}

void HttpServerCore::HandlerEnded() {
  --running_count;
  if (server != nullptr) server->CheckDrained();
}

}  // namespace neptune
