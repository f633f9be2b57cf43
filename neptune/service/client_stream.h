// The calling end of a stream: an ordered, bidirectional channel of messages to a method of a partition.
//
//   NEPTUNE_ASSIGN_OR_RETURN(auto stream, OpenStream(session, service, partition, method, Data(query)));
//   NEPTUNE_RETURN_IF_ERROR(stream->Write(Data("more")));
//   NEPTUNE_ASSIGN_OR_RETURN(std::optional<Data> message, stream->Read());
//   return stream->Finish();
//
// A stream reads: what it does leaves no trace in the service's data, so nothing is replicated or logged. It
// goes to one replica and stays there; when that one is lost the stream is, and the owner opens another.
//
// Opening it, and each read or write that has to wait, is a visit to the server's dependency capsule; a stream that
// nobody waits for holds no place. When a capsule ends a wait, the stream goes on.
//
// Source: [Shen02] 2.3 (stream-based scheme; read-only accesses).
// Threads: user-level threads of the loop it was opened on; at most one that reads and one that writes.
// Errors: of Read and Write: what the method returned, once it returned; kUnavailable the server is lost;
//   kDeadlineExceeded its own or its capsule's; kResourceExhausted the capsule is full; kCancelled the node stops or
//   the session's own caller is gone; kInvalidArgument a message over kMessageSizeMax.
// Limits: neptune/wire/message_stream_state.h; Write parks while the method does not read.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "neptune/service/call_path.h"
#include "neptune/service/client.h"
#include "neptune/wire/message_stream.h"

namespace neptune {

class ClientStream final : private AnswerSink {
 public:
  // Tells the server to stop if the stream goes on.
  ~ClientStream() override;
  ClientStream(const ClientStream&) = delete;
  ClientStream& operator=(const ClientStream&) = delete;

  // Messages arrive in the order of writing.
  Status Write(const Data& message);
  // No more messages from here; the method sees their end. Idempotent; Write is a bug after it.
  void EndWriting();
  // The method's next message; parks until it comes, and no longer than until `limit` (kDeadlineExceeded). nullopt: the
  // method returned OK.
  StatusOr<std::optional<Data>> Read(TimePoint limit = TimePoint::max());
  // Ends writing, passes over the messages not read, and returns what the method did.
  Status Finish();

  // Whole once the stream has ended.
  const CallReport& report() const { return report_; }

 private:
  friend StatusOr<std::unique_ptr<ClientStream>> OpenStream(ClientSession&, const ServiceName&,
                                                            PartitionId, const MethodName&,
                                                            const Data&, const CallOptions&);
  ClientStream(ClientSession& session, const CallOptions& options, RequestHeader header);

  Status Open(const Data& request);
  void OnAnswer(StatusOr<Frame> response) override;
  MessageStream* stream() override { return messages_.get(); }
  // Keeps the first end of the stream for the statistics.
  void Ended(const Status& status);
  // A wait for the server is a visit to its capsule.
  Status EnterCapsule(CapsulePermit* visit);
  Holding PlaceIn(const CapsulePermit& visit) const;
  TimePoint DeadlineIn(const CapsulePermit& visit) const;
  // What a wait of the stream ended with, said of this call.
  Status Explain(const Status& status);

  const ClientSession session_;  // its caller lives as long as this
  CallReport report_;
  CallPath path_;
  const TimePoint begin_;
  Replica replica_;  // that it is open to
  std::shared_ptr<ClientConnection> connection_;
  Holding held_;  // the open stream
  uint64_t call_ = 0;
  std::shared_ptr<MessageStream> messages_;  // a cancellation on its way holds it too
  std::optional<CancelAction> on_cancel_;
  bool answered_ = false;
  bool concluded_ = false;
};

// Connects to a replica of the partition, as a call does, and begins the stream there; `request` opens it. The
// method may refuse it later, which Read, Write and Finish return. Deadline: the session's timeout from now
// for the whole stream, unless the options say otherwise.
StatusOr<std::unique_ptr<ClientStream>> OpenStream(ClientSession& session,
                                                   const ServiceName& service,
                                                   PartitionId partition, const MethodName& method,
                                                   const Data& request,
                                                   const CallOptions& options = {});

}  // namespace neptune
