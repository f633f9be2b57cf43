// The rules of one end of a stream: in which order messages are read, when one may be written, what the
// peer must be told, and what it must not do.
//
//   writer:  window ── Wrote ──► smaller ── may write while any of it is left
//              ▲ HandleGrant
//   reader:  HandleMessage ─► queue ─► Next ─► once half of the window was read: a grant for the peer
//
// Each end may send kMessageWindowSize bytes before the other has read any. A message costs the bytes of
// its frame, so that empty ones are bounded too, and may be written while any window is left; what one end
// holds for a slow reader is therefore at most the window and one message.
//
// Source: [Shen02] 2.3 (stream-based scheme: rounds of interaction, read-only accesses).
// Departs from source: flow control, which the source leaves to the transport; here many calls share it.
// No I/O, no clock, no threads; MessageStream waits and sends.
// Threads: thread-compatible.
// Units: bytes.
// Errors: kDataLoss the peer broke a rule: its connection cannot be trusted any more.
// Limits: kMessageWindowSize, kMessageSizeMax.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "neptune/base/status.h"
#include "neptune/wire/frame.h"

namespace neptune {

// Both ends begin with it. Larger: more memory a stream, fewer stalls over long links. 256 KiB is a link
// of 1 Gb/s and 2 ms.
inline constexpr size_t kMessageWindowSize = 256 * 1024;
inline constexpr size_t kMessageSizeMax = 1024 * 1024;

class MessageStreamState {
 public:
  // What the peer sent.
  Status HandleMessage(std::string message);
  Status HandleGrant(uint32_t size);
  // It sends no more messages.
  Status HandleEnd();

  // The stream is over both ways. OK: what arrived can still be read, then reading ends. An error: what
  // arrived can still be read unless `drop_unread`, then reading fails with it. The first one counts.
  void Close(const Status& why, bool drop_unread);

  struct Taken {
    std::string message;
    uint32_t grant = 0;  // to be told to the peer if not zero
  };
  // The next message in the order of sending, or nullopt: see reading_ended() and closed_with().
  std::optional<Taken> Next();
  bool has_message() const { return !unread_.empty(); }
  // No message is there and none will come.
  bool reading_ended() const { return unread_.empty() && (peer_ended_ || closed_); }

  // A message of any size may be written now.
  bool CanWrite() const { return send_window_ > 0; }
  // REQUIRES: CanWrite(), size <= kMessageSizeMax.
  void Wrote(size_t size);

  // Absent while the stream goes on.
  const std::optional<Status>& closed_with() const { return closed_; }
  // Bytes that arrived and were not read.
  size_t unread_size() const { return unread_size_; }

 private:
  std::deque<std::string> unread_;
  size_t unread_size_ = 0;
  // May fall below zero by one message.
  int64_t send_window_ = kMessageWindowSize;
  int64_t receive_window_ = kMessageWindowSize;
  uint32_t ungranted_size_ = 0;  // read, and not yet granted anew
  bool peer_ended_ = false;
  std::optional<Status> closed_;
};

}  // namespace neptune
