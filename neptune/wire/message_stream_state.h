// Protocol state of one end of a message stream: message order, flow control, and the checks of the
// peer.
//
//   writer:  window ── Wrote ──► smaller window; may write while the window is above zero
//              ▲ HandleGrant
//   reader:  HandleMessage ─► queue ─► Next ─► grant to the peer after each half window read
//
// Each end may send kMessageWindowSize bytes before the other has read any. A message costs the
// size of its frame, so that empty messages are bounded too. It may be written while any window is
// left, so one end buffers at most the window and one message for a slow reader.
//
// Source: [Shen02] 2.3 (stream-based scheme: rounds of interaction, read-only accesses).
// Departs from source: has flow control, which the source leaves to the transport, because many
//   calls share a connection here.
// No I/O, no clock, no threads; MessageStream waits and sends.
// Threads: thread-compatible.
// Units: bytes.
// Errors: kDataLoss the peer violated the protocol: its connection cannot be trusted any more.
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

// Initial window of both ends. Larger: more memory per stream, fewer stalls on long links. 256 KiB
// fills a link of 1 Gb/s and 2 ms.
inline constexpr size_t kMessageWindowSize = 256 * 1024;
inline constexpr size_t kMessageSizeMax = 1024 * 1024;

class MessageStreamState {
 public:
  // Handle frames from the peer.
  Status HandleMessage(std::string message);
  Status HandleGrant(uint32_t size);
  // The peer sends no more messages.
  Status HandleEnd();

  // Ends the stream both ways; only the first call has an effect. After OK, received messages can
  // still be read, then reading ends. After an error, received messages can still be read unless
  // `drop_unread`, then reading fails with the error.
  void Close(const Status& why, bool drop_unread);

  struct Taken {
    std::string message;
    uint32_t grant = 0;  // to be sent to the peer unless zero
  };
  // Removes and returns the next message, in the order of sending. If there is none, returns
  // nullopt; see reading_ended() and closed_with().
  std::optional<Taken> Next();
  bool has_message() const { return !unread_.empty(); }
  // True if there is no message and none will arrive.
  bool reading_ended() const { return unread_.empty() && (peer_ended_ || closed_); }

  // True if a message of any size may be written now.
  bool CanWrite() const { return send_window_ > 0; }
  // REQUIRES: CanWrite(), size <= kMessageSizeMax.
  void Wrote(size_t size);

  // Unset while the stream is open.
  const std::optional<Status>& closed_with() const { return closed_; }
  // Bytes received and not yet read.
  size_t unread_size() const { return unread_size_; }

 private:
  std::deque<std::string> unread_;
  size_t unread_size_ = 0;
  // May become negative by the size of one message.
  int64_t send_window_ = kMessageWindowSize;
  int64_t receive_window_ = kMessageWindowSize;
  uint32_t ungranted_size_ = 0;  // bytes read and not yet granted to the peer again
  bool peer_ended_ = false;
  std::optional<Status> closed_;
};

}  // namespace neptune
