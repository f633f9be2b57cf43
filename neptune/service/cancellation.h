// Ends calls that are made on behalf of no request, such as those of a module's own thread.
//
//   const RequestContext origin({partition, deadline}, cancellation.call(), world);
//   ClientSession session(client, origin);   // its calls end with kCancelled after Cancel
//
// Threads: thread-safe.

#pragma once

#include <memory>

namespace neptune {

class IncomingCall;

class Cancellation {
 public:
  Cancellation();

  // Ends the calls in progress and all later ones. Idempotent.
  void Cancel();
  const std::shared_ptr<IncomingCall>& call() const { return call_; }

 private:
  const std::shared_ptr<IncomingCall> call_;
};

}  // namespace neptune
