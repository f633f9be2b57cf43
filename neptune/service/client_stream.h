// The calling end of a stream: an ordered, bidirectional channel of messages to a method of a
// partition.
//
//   NEPTUNE_ASSIGN_OR_RETURN(auto stream,
//                            OpenStream(session, service, partition, method, Data(query)));
//   NEPTUNE_RETURN_IF_ERROR(stream->Write(Data("more")));
//   NEPTUNE_ASSIGN_OR_RETURN(std::optional<Data> message, stream->Read());
//   return stream->Finish();
//
// A stream is read-only: it does not change the service's data, so nothing is replicated or logged.
// It is served by one replica; when that replica is lost the stream fails, and the owner opens
// another.
//
// Opening a stream, and each read or write that has to wait, is a visit to the server's dependency
// capsule; an idle stream holds no place in it. When a capsule ends a wait, the stream continues.
//
// Source: [Shen02] 2.3 (stream-based scheme; read-only accesses).
// Threads: user-level threads of the loop it was opened on; at most one that reads and one that
//   writes.
// Errors: Read and Write: the method's status once it has returned; kUnavailable the server is
//   lost; kDeadlineExceeded the stream's or its capsule's; kResourceExhausted the capsule is full;
//   kCancelled the node stops or the session's own caller is gone; kInvalidArgument a message over
//   kMessageSizeMax.
// Limits: neptune/wire/message_stream_state.h; Write parks while the method does not read.

#pragma once

#include <memory>
#include <optional>

#include "neptune/base/status.h"
#include "neptune/service/client.h"
#include "neptune/service/data.h"

namespace neptune {

class ClientStream {
 public:
  ClientStream() = default;
  // Cancels the stream at the server if it has not ended.
  virtual ~ClientStream() = default;
  ClientStream(const ClientStream&) = delete;
  ClientStream& operator=(const ClientStream&) = delete;

  // Sends a message; messages arrive in the order of writing.
  virtual Status Write(const Data& message) = 0;
  // Half-closes the stream: the method sees the end of its input. Idempotent; Write after it is a
  // bug.
  virtual void EndWriting() = 0;
  // Returns the method's next message, or nullopt once the method has returned OK. Parks until
  // there is one, at most until `limit` (kDeadlineExceeded).
  virtual StatusOr<std::optional<Data>> Read(TimePoint limit) = 0;
  StatusOr<std::optional<Data>> Read() { return Read(TimePoint::max()); }
  // Ends writing, discards unread messages, and returns the method's status.
  Status Finish();

  // Complete once the stream has ended.
  virtual const CallReport& report() const = 0;
};

// Connects to a replica of the partition, as a call does, and opens a stream with `request`. If the
// method refuses it later, Read, Write and Finish return its error. The deadline applies to the
// whole stream; default: the session's timeout from now.
StatusOr<std::unique_ptr<ClientStream>> OpenStream(ClientSession& session,
                                                   const ServiceName& service,
                                                   PartitionId partition, const MethodName& method,
                                                   const Data& request,
                                                   const CallOptions& options = {});

}  // namespace neptune
