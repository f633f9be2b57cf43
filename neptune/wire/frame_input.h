// The received frames of one accepted connection, and since when its peer owes the rest of one.
// Internal to server_connection.
//
// No I/O, no clock.
// Threads: thread-compatible.
// Errors: those of FrameDecoder.
// Limits: counts the bytes of incomplete frames in a total over all connections, whose limit the
//   caller enforces.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "neptune/base/time.h"
#include "neptune/wire/frame.h"

namespace neptune {

class FrameInput {
 public:
  // `unfinished_total` and `gate` outlive this object's use; `gate` may be null.
  FrameInput(const FrameLimits& limits, size_t* unfinished_total, TimePoint now,
             PayloadGate* gate = nullptr)
      : decoder_(limits, gate), unfinished_total_(unfinished_total), last_frame_at_(now) {}

  // Takes the bytes of one read, which must stay valid until Keep.
  void Lend(std::string_view bytes, TimePoint now) {
    now_ = now;
    if (!decoder_.is_mid_frame()) frame_begun_at_ = now;
    decoder_.Lend(bytes);
  }
  // The connection was not read for a while; the peer gets its time again.
  void Resume(TimePoint now) { frame_begun_at_ = now_ = now; }

  // The next complete frame, valid until the next call on this object. False: there is none, or
  // error() says what is wrong.
  bool Next(FrameView* frame) {
    if (!decoder_.FindNext(frame)) return false;
    last_frame_at_ = frame_begun_at_ = now_;
    was_used_ = true;
    return true;
  }
  const Status& error() const { return decoder_.error(); }
  // See FrameDecoder.
  std::string TakePayload(const FrameView& frame) { return decoder_.TakePayload(frame); }
  // Copies the bytes of frames that are not complete, and releases the memory of others.
  void Keep() {
    decoder_.Keep();
    decoder_.LetGoOfConsumed();
  }

  // Counts this connection's incomplete frame in the total, which it returns.
  size_t CountUnfinished() {
    *unfinished_total_ += decoder_.buffered_size() - counted_size_;
    counted_size_ = decoder_.buffered_size();
    return *unfinished_total_;
  }
  // Removes this connection from the total.
  void Discount() { *unfinished_total_ -= std::exchange(counted_size_, 0); }

  // Time of the read whose frames are being handled.
  TimePoint now() const { return now_; }
  TimePoint last_frame_at() const { return last_frame_at_; }
  // For how long a frame is incomplete; 0 if none is.
  Duration UnfinishedFor(TimePoint now) const {
    return decoder_.is_mid_frame() ? now - frame_begun_at_ : Duration(0);
  }
  bool is_mid_frame() const { return decoder_.is_mid_frame(); }
  // True if a frame was received.
  bool was_used() const { return was_used_; }

 private:
  FrameDecoder decoder_;
  size_t* unfinished_total_;
  size_t counted_size_ = 0;  // bytes counted in the total
  bool was_used_ = false;
  TimePoint now_;
  TimePoint last_frame_at_;
  TimePoint frame_begun_at_;
};

}  // namespace neptune
