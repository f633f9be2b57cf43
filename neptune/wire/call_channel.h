// The calls of one loop to one server: over a connection (client_connection.h), or within the
// process if the server is the calling node itself (local_calls.h).
//
// Threads: the loop's own.
// Errors: Call: kUnavailable the channel is ending; kResourceExhausted too many calls in flight, a
//   payload over the limit, or a request that does not fit the memory budget; the channel goes on.
//   OnAnswer: kUnavailable the channel ended before the answer; kDataLoss the answer is malformed.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/wire/frame.h"

namespace neptune {

class MessageStream;

struct CallAnswer {
  ResponseHeader header;
  std::string payload;
};

// Receives the answer to one call. It must live until OnAnswer was called or the call was
// forgotten.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  // Receives the answer, whose status may be an error of the server, or an error if there will be
  // none. Called at most once, on the channel's loop.
  virtual void OnAnswer(StatusOr<CallAnswer>&& answer) = 0;
  // The server has accepted the request. Called any number of times, before OnAnswer.
  virtual void OnAccepted() {}
  // The stream that receives messages, if the call opened one; otherwise null.
  virtual std::shared_ptr<MessageStream> stream() { return nullptr; }
};

class CallChannel {
 public:
  virtual ~CallChannel() = default;

  // Sends a request and returns the number of the call; `sink` is called later, never from inside
  // Call. The header's deadline is the time that is left.
  virtual StatusOr<uint64_t> Call(const RequestHeader& header, std::string_view payload,
                                  AnswerSink* sink) = 0;
  // Forgets the call's sink; `tell_server` cancels the work at the server.
  virtual void Forget(uint64_t call, bool tell_server) = 0;

  // Send a part of the call's stream; dropped if the call was answered or forgotten.
  virtual void SendMessage(uint64_t call, std::string message) = 0;
  virtual void SendGrant(uint64_t call, uint32_t size) = 0;
  virtual void SendEnd(uint64_t call) = 0;

  // False if a new call must go elsewhere.
  virtual bool usable() const = 0;
};

}  // namespace neptune
