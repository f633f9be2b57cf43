// One end of a stream, for the user-level threads that read and write it.
//
//   connection ─ OnMessage, OnGrant, OnEnd, Close ─► MessageStream ─► Read
//   connection ◄─────────────── StreamOutlet ◄────── MessageStream ◄─ Write, EndWriting
//
// Source: [Shen02] 2.3 (stream-based scheme).
// Threads: thread-safe. Read and Write on user-level threads, at most one reader and one writer at a
//   time, which may be the same; they may run on another loop than the connection.
// Units: deadlines are TimePoint of the caller's loop.
// Errors: kDeadlineExceeded the deadline passed; kCancelled the caller's scheduler stops; else what the
//   stream was closed with. kInvalidArgument a message over kMessageSizeMax.
// Limits: message_stream_state.h.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "neptune/base/leaf_mutex.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/message_stream_state.h"

namespace neptune {

// Where an end sends; what cannot be sent any more is dropped. Called on user-level threads.
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

  // What arrived. Errors: kDataLoss the peer broke the rules, and its connection is to be closed.
  Status OnMessage(std::string message);
  Status OnGrant(uint32_t size);
  Status OnEnd();
  // Ends the stream both ways; see MessageStreamState::Close.
  void Close(const Status& why, bool drop_unread);

  // The peer's next message; parks until it comes. nullopt: it sends no more.
  StatusOr<std::optional<std::string>> Read(TimePoint deadline);
  // Parks while the peer's window is closed. Messages arrive in the order of writing.
  Status Write(std::string message, TimePoint deadline);
  // Whether Read or Write would park now; what the other side does meanwhile may end that.
  bool ReadWaits();
  bool WriteWaits();
  // No more messages from this end. Idempotent; Write is a bug after it.
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
  bool writing_ended_ = false;  // the writer's own
  std::atomic<uint64_t> read_count_{0};
  std::atomic<uint64_t> written_count_{0};
};

// Hands a frame of type kMessage, kGrant or kEnd to its stream. Errors: kDataLoss.
Status DeliverToStream(Frame frame, MessageStream& stream);

}  // namespace neptune
