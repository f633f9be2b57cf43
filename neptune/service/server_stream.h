// A method's end of a stream: an ordered, bidirectional channel of messages to its caller.
//
//   const auto twice = [](RequestContext&, const Data&, ServerStream& stream) {
//     while (true) {
//       NEPTUNE_ASSIGN_OR_RETURN(std::optional<Data> message, stream.Read());
//       if (!message) return OkStatus();
//       NEPTUNE_RETURN_IF_ERROR(stream.Write(Data(message->bytes() + message->bytes())));
//     }
//   };
//   registrar.Stream(MethodName("Double"), {}, twice);
//
// When the method returns, the stream ends both ways, after all messages written before have
// arrived. The caller's Finish returns the method's status.
//
// Source: [Shen02] 2.3 (stream-based scheme; read-only accesses).
// Threads: user-level threads of one loop; at most one that reads and one that writes.
// Errors: kCancelled the caller cancelled or is gone, or the node stops; kDeadlineExceeded;
//   kInvalidArgument a message over kMessageSizeMax. The method then has nothing left to do but
//   return.
// Limits: neptune/wire/message_stream_state.h; Write parks while the caller does not read.

#pragma once

#include <optional>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/service/data.h"

namespace neptune {

class MessageStream;

class ServerStream {
 public:
  ServerStream(MessageStream& messages, TimePoint deadline)
      : messages_(messages), deadline_(deadline) {}

  // Returns the caller's next message, or nullopt after its last one; parks until there is one.
  StatusOr<std::optional<Data>> Read();
  // Parks while the caller's window is full, at most until `limit` (kDeadlineExceeded).
  Status Write(const Data& message, TimePoint limit = TimePoint::max());

 private:
  MessageStream& messages_;
  const TimePoint deadline_;
};

}  // namespace neptune
