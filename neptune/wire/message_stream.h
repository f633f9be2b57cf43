// One end of a message stream, for the user-level threads that read and write it.
//
//   connection ─ OnMessage, OnGrant, OnEnd, Close ─► MessageStream ─► Read
//   connection ◄─────────────── StreamOutlet ◄────── MessageStream ◄─ Write, EndWriting
//
// Source: [Shen02] 2.3 (stream-based scheme).
// Threads: thread-safe. Read and Write run on user-level threads, at most one reader and one writer
//   at a time (possibly the same thread); they may run on another loop than the connection.
// Units: deadlines are TimePoint of the caller's loop.
// Errors: kDeadlineExceeded the deadline passed; kCancelled the caller's scheduler stops;
//   kInvalidArgument a message over kMessageSizeMax; otherwise the status that the stream was
//   closed with.
// Limits: message_stream_state.h.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "neptune/base/leaf_mutex.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/message_stream_state.h"

namespace neptune {

// Sends the frames of one end of a stream. Frames that can no longer be sent are dropped. Called on
// user-level threads.
class StreamOutlet {
 public:
  virtual ~StreamOutlet() = default;
  virtual void SendMessage(std::string message) = 0;
  virtual void SendGrant(uint32_t size) = 0;
  virtual void SendEnd() = 0;
};

class MessageStream {
 public:
  explicit MessageStream(std::unique_ptr<StreamOutlet> outlet) : outlet_(std::move(outlet)) {}

  // Handle received frames. Errors: kDataLoss the peer violated the protocol; its connection must
  // be closed.
  Status OnMessage(std::string message);
  Status OnGrant(uint32_t size);
  Status OnEnd();
  // Ends the stream both ways; see MessageStreamState::Close.
  void Close(const Status& why, bool drop_unread);

  // Returns the peer's next message, or nullopt after its last one; parks until there is one.
  StatusOr<std::optional<std::string>> Read(TimePoint deadline);
  // Sends a message; parks while the peer's window is closed. Messages arrive in the order of
  // writing.
  Status Write(std::string message, TimePoint deadline);
  // True if Read or Write would park now. The answer may be outdated at once, because the peer may
  // act.
  bool ReadWaits();
  bool WriteWaits();
  // Half-closes the stream: this end sends no more messages. Idempotent; Write after it is a bug.
  void EndWriting();

  // Messages read and written so far.
  uint64_t read_count() const { return read_count_.load(std::memory_order_relaxed); }
  uint64_t written_count() const { return written_count_.load(std::memory_order_relaxed); }

 private:
  enum class Side { kReader, kWriter };
  Status WaitAs(Side side, TimePoint deadline);
  void Wake(Side side) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::unique_ptr<StreamOutlet> outlet_;
  LeafMutex mutex_;
  MessageStreamState state_ ABSL_GUARDED_BY(mutex_);
  ThreadRef reader_ ABSL_GUARDED_BY(mutex_);
  ThreadRef writer_ ABSL_GUARDED_BY(mutex_);
  bool writing_ended_ = false;  // accessed by the writer only
  std::atomic<uint64_t> read_count_{0};
  std::atomic<uint64_t> written_count_{0};
};

// Passes a frame of type kMessage, kGrant or kEnd, and its payload, to its stream.
// Errors: kDataLoss.
Status DeliverToStream(const FrameView& frame, std::string payload, MessageStream& stream);

}  // namespace neptune
