#include "neptune/wire/http/http_timeouts.h"

#include <algorithm>
#include <utility>

namespace neptune {

void HttpTimeouts::Note(Phase phase, size_t unsent_size, TimePoint now) {
  if (phase != std::exchange(phase_, phase)) {
    phase_began_ = body_since_ = now;
    body_mark_ = limits_.body_progress_size_min;
  }
  if (unsent_size == 0 || unsent_size_ == 0 || unsent_size <= unsent_mark_) {
    unsent_since_ = now;
    unsent_mark_ = unsent_size - std::min(unsent_size, limits_.write_size_min);
  }
  unsent_size_ = unsent_size;
}

void HttpTimeouts::NoteBody(size_t size, TimePoint now) {
  if (phase_ != Phase::kInBody || size < body_mark_) return;
  body_since_ = now;
  body_mark_ = size + limits_.body_progress_size_min;
}

void HttpTimeouts::BeginLinger(TimePoint now) { linger_until_ = now + limits_.linger; }

TimePoint HttpTimeouts::Deadline(bool awaits_bytes) const {
  if (has_unsent()) return AddSaturated(unsent_since_, limits_.write);
  if (lingers()) return linger_until_;
  return awaits_bytes ? PhaseDeadline() : kNever;
}

TimePoint HttpTimeouts::PhaseDeadline() const {
  switch (phase_) {
    case Phase::kInHeader:
      return AddSaturated(phase_began_, limits_.header);
    case Phase::kInBody:
      return std::min(AddSaturated(phase_began_, limits_.body),
                      AddSaturated(body_since_, limits_.body_progress));
    case Phase::kBetweenRequests:
      break;
  }
  return AddSaturated(phase_began_, limits_.idle);
}

HttpTimeouts::Verdict HttpTimeouts::Judge(bool awaits_bytes, TimePoint now) const {
  if (now < Deadline(awaits_bytes)) return Verdict::kInTime;
  if (has_unsent()) return Verdict::kStalledReading;
  if (lingers() || phase_ == Phase::kBetweenRequests) return Verdict::kIdle;
  return Verdict::kLateRequest;
}

}  // namespace neptune
