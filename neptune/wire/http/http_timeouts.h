// How long the client of a connection may take: to send a request, to read its answers, to leave.
//
// No clock, no timer: the connection reports what it sees, and asks for the next deadline.
// Threads: thread-compatible.
// Limits: HttpTimeLimits.

#pragma once

#include <cstddef>

#include "neptune/base/time.h"
#include "neptune/wire/http/request_reader.h"

namespace neptune {

// HttpServerOptions describes each of them.
struct HttpTimeLimits {
  Duration header;
  Duration body;
  Duration idle;
  Duration write;
  size_t write_size_min;
  Duration linger;
  Duration body_progress = Duration::max();
  size_t body_progress_size_min = 1;
};

class HttpTimeouts {
 public:
  using Phase = HttpRequestReader::Phase;

  HttpTimeouts(const HttpTimeLimits& limits, TimePoint now)
      : limits_(limits), phase_began_(now), body_since_(now), unsent_since_(now) {}

  // Records the phase of reading requests, and the number of answer bytes that the client has not
  // accepted.
  void Note(Phase phase, size_t unsent_size, TimePoint now);
  // Records how much of a body has arrived, after Note.
  void NoteBody(size_t size, TimePoint now);
  // Records that answer bytes were written, which must not count as bytes that the client has read.
  void NoteWritten(size_t size) { unsent_mark_ += size; }
  // The time of the current phase begins now: an answer was written, or the connection is read
  // again.
  void RestartPhase(TimePoint now) { phase_began_ = body_since_ = now; }
  // All was sent; the client gets the time of lingering to stop sending.
  void BeginLinger(TimePoint now);
  // An answer was written; lingering begins again once all is sent.
  void EndLinger() { linger_until_ = kNever; }

  // Values last noted.
  Phase phase() const { return phase_; }
  bool has_unsent() const { return unsent_size_ > 0; }
  bool lingers() const { return linger_until_ != kNever; }
  // When the phase began, and since when the client has read too little.
  TimePoint phase_began() const { return phase_began_; }
  TimePoint unsent_since() const { return unsent_since_; }

  // The time at which the client is too late; kNever if nothing is awaited from it. `awaits_bytes`:
  // the connection is read, and no request is in progress.
  TimePoint Deadline(bool awaits_bytes) const;

  enum class Verdict {
    kInTime,
    kIdle,            // no request, or the end of lingering: the connection ends
    kStalledReading,  // the client does not read its answers: the connection ends
    kLateRequest,     // a request has begun and does not arrive: it is answered 408
  };
  Verdict Judge(bool awaits_bytes, TimePoint now) const;

 private:
  TimePoint PhaseDeadline() const;

  const HttpTimeLimits limits_;
  Phase phase_ = Phase::kBetweenRequests;
  TimePoint phase_began_;
  // Since when too little of the body has arrived, and the size at which that time begins again.
  TimePoint body_since_;
  size_t body_mark_ = 0;
  size_t unsent_size_ = 0;
  // Below this number of unsent bytes, the client has read enough to restart its time.
  size_t unsent_mark_ = 0;
  TimePoint unsent_since_;
  TimePoint linger_until_ = kNever;
};

}  // namespace neptune
