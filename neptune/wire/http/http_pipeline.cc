#include "neptune/wire/http/http_pipeline.h"

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
  if (last_taken_) return false;
  if (held_) return slots_.empty();
  if (!slots_.empty() && slots_.front().exclusive) return false;
  return slots_.size() < options_.in_flight_count_max;
}

std::optional<HttpPipeline::Taken> HttpPipeline::Take(TimePoint now) {
  std::optional<HttpRequest> request = held_ ? std::exchange(held_, std::nullopt) : reader_.Next();
  if (!request) return std::nullopt;
  const bool exclusive = !IsSafe(request->method);
  if (exclusive && !slots_.empty()) {
    held_ = std::move(request);
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

void HttpPipeline::Answer(uint64_t number, HttpResponse response) {
  const uint64_t index = number - front_number_;  // huge for a number before the front
  if (index < slots_.size()) slots_[index].response = std::move(response);
}

void HttpPipeline::AnswerLast(HttpResponse response, TimePoint now) {
  last_taken_ = true;
  slots_.push_back(
      {.context = {.keep_alive = false}, .received = now, .response = std::move(response)});
}

std::optional<HttpPipeline::Slot> HttpPipeline::TakeAnswered() {
  if (slots_.empty() || !slots_.front().response) return std::nullopt;
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
  held_.reset();
  const std::deque<Slot> forgotten = std::exchange(slots_, {});
  for (const Slot& slot : forgotten) {
    if (slot.call != nullptr && !slot.response) slot.call->Cancel();
  }
}

}  // namespace neptune
