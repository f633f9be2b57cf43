#include "neptune/wire/http/http_pipeline.h"

#include <iterator>
#include <utility>

#include "neptune/wire/incoming_call.h"

namespace neptune {
namespace {

bool IsSafe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

}  // namespace

void HttpPipeline::Feed(std::string_view bytes) {
  if (!last_taken_) reader_.Feed(bytes);
}

bool HttpPipeline::MayTake() const {
  if (last_taken_ || held_count_ > 0) return false;
  if (held_ != nullptr) return slots_.empty();
  if (!slots_.empty() && slots_.front().exclusive) return false;
  return slots_.size() < options_.in_flight_count_max;
}

std::optional<HttpPipeline::Taken> HttpPipeline::Take(TimePoint now) {
  std::optional<HttpRequest> request;
  if (held_ != nullptr) {
    request = std::move(*std::exchange(held_, nullptr));
  } else {
    request = reader_.Next();
  }
  if (!request) return std::nullopt;
  const bool exclusive = !IsSafe(request->method);
  if (exclusive && !slots_.empty()) {
    held_ = std::make_unique<HttpRequest>(*std::move(request));
    return std::nullopt;
  }
  request->received = now;
  const bool keep_alive = request->keep_alive && !options_.takes_one;
  slots_.push_back({.context = {.head = request->method == "HEAD",
                                .version = request->version,
                                .keep_alive = keep_alive},
                    .received = now,
                    .exclusive = exclusive});
  last_taken_ = !keep_alive;
  return Taken{front_number_ + slots_.size() - 1, *std::move(request)};
}

// Null: the request is not in progress any more.
HttpPipeline::Slot* HttpPipeline::SlotOf(uint64_t number) {
  const uint64_t index = number - front_number_;  // huge for a number before the front
  if (index >= slots_.size()) return nullptr;
  return &*std::next(slots_.begin(), static_cast<ptrdiff_t>(index));
}

bool HttpPipeline::Answer(uint64_t number, HttpResponse response, TimePoint held_until) {
  Slot* const slot = SlotOf(number);
  if (slot == nullptr) return false;
  slot->response = std::move(response);
  slot->held_until = held_until;
  if (held_until != kNotHeld) ++held_count_;
  return true;
}

void HttpPipeline::EndAfter(uint64_t number) {
  Slot* const slot = SlotOf(number);
  if (slot == nullptr) return;
  slot->context.keep_alive = false;
  last_taken_ = true;
}

void HttpPipeline::AnswerLast(HttpResponse response, TimePoint now, bool is_head,
                              TimePoint held_until) {
  last_taken_ = true;
  slots_.push_back({.context = {.head = is_head, .keep_alive = false},
                    .received = now,
                    .response = std::move(response),
                    .held_until = held_until});
  if (held_until != kNotHeld) ++held_count_;
}

TimePoint HttpPipeline::NextRelease() const {
  const bool is_held = !slots_.empty() && slots_.front().held_until != kNotHeld;
  return is_held ? slots_.front().held_until : kNever;
}

void HttpPipeline::ReleaseAll() {
  for (Slot& slot : slots_) slot.held_until = kNotHeld;
  held_count_ = 0;
}

std::optional<HttpPipeline::Slot> HttpPipeline::TakeAnswered(TimePoint now) {
  if (slots_.empty() || !slots_.front().response) return std::nullopt;
  if (slots_.front().held_until > now) return std::nullopt;
  if (slots_.front().held_until != kNotHeld) --held_count_;
  std::optional<Slot> slot = std::move(slots_.front());
  slots_.pop_front();
  ++front_number_;
  return slot;
}

bool HttpPipeline::ConsumeExpectsContinue() {
  return slots_.empty() && !last_taken_ && reader_.ConsumeExpectsContinue();
}

void HttpPipeline::Clear() {
  front_number_ += slots_.size();
  held_count_ = 0;
  held_.reset();
  const std::list<Slot> forgotten = std::exchange(slots_, {});
  for (const Slot& slot : forgotten) {
    if (slot.call != nullptr && !slot.response) slot.call->Cancel();
  }
}

}  // namespace neptune
