// The request that a method serves: what was asked, on whose behalf, and whether to go on.
//
// User-level threads are not preempted. A method that computes for long lets shorter ones go first:
//
//   context.ExpectWork(postings);                       // once this is known
//   while (!context.ShouldStop()) {
//     ... some of it ...
//     context.GiveWay(4096);                            // parks while others go first
//   }
//
// Threads: the user-level thread of the request; ShouldStop and ended_early on any thread of its
//   loop.
// Errors: SleepUntil: kCancelled, kDeadlineExceeded.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/wire/trace_context.h"

namespace neptune {

class IncomingCall;
class LimitedRequest;
class World;

// Identifies the request on whose behalf a call is made.
struct RequestOrigin {
  // The method that serves the request, as a number that is unique on the node.
  uint64_t handler = 0;
  // See RequestHeader.
  bool retried = false;
  std::chrono::microseconds waited{0};
};

// True once the caller is gone. For work that may outlive the context of its request; any thread.
bool IsCancelled(const IncomingCall& call);

// Lets other requests of the worker loop go first; implemented by the host (long_work.h).
class TurnTaker {
 public:
  virtual ~TurnTaker() = default;
  virtual void Expect(uint64_t work) = 0;
  virtual bool Advance(uint64_t done) = 0;
};

// What a request asks for, and by when.
struct RequestTerms {
  PartitionId partition{};
  TimePoint deadline = kNever;
  std::string service_class{};
  // Trace context of this request; the parent of the calls that the method makes on its behalf.
  TraceContext trace{};
  RequestOrigin origin{};
  // See IncomingRequest.
  std::shared_ptr<const std::string> caller{};
};

// The request that a method serves.
class RequestContext {
 public:
  // `call` may be null.
  RequestContext(RequestTerms terms, std::shared_ptr<IncomingCall> call, World& world)
      : terms_(std::move(terms)), call_(std::move(call)), world_(world) {}

  PartitionId partition() const { return terms_.partition; }
  TimePoint deadline() const { return terms_.deadline; }
  const std::string& service_class() const { return terms_.service_class; }
  const TraceContext& trace() const { return terms_.trace; }
  World& world() const { return world_; }
  const RequestOrigin& origin() const { return terms_.origin; }
  // The name of the node in the caller's certificate; null: it has shown none, or is this node.
  const std::string* caller() const { return terms_.caller.get(); }
  const std::shared_ptr<const std::string>& shared_caller() const { return terms_.caller; }
  // Opaque bytes of a higher layer, sent with the request and with its answer.
  const std::string& extension() const { return extension_; }
  const std::string& answer_extension() const { return answer_extension_; }
  void set_extension(std::string bytes) { extension_ = std::move(bytes); }
  void set_answer_extension(std::string bytes) { answer_extension_ = std::move(bytes); }
  TimePoint Now() const;
  // True once the answer is no longer needed (the caller cancelled or disconnected, or the deadline
  // passed), or once the service's time limit ends the request. In the latter case a partial answer
  // is still useful; see ended_early.
  bool ShouldStop() const;
  // True if the request was stopped because it exceeded the service's time limit.
  bool ended_early() const;
  // States work that is to be expected, in addition to what was stated before; in a unit that all
  // methods of a node share, such as postings read. May park until it is this request's turn.
  void ExpectWork(uint64_t work) const {
    if (turns_ != nullptr) turns_->Expect(work);
  }
  // `done` more of the work is done. Parks while others go first, and returns true if they did.
  // Call it at stop checks, and never with a lock held. Without ExpectWork the request counts as
  // one of unknown length. A short request never gives way.
  bool GiveWay(uint64_t done) const { return turns_ != nullptr && turns_->Advance(done); }
  // Called by the host only, before the method runs.
  void SetLimited(const LimitedRequest* limited) { limited_ = limited; }
  void SetTurns(TurnTaker* turns) { turns_ = turns; }
  // Parks until `when`, or until the answer is no longer needed.
  // Errors: kCancelled the caller is gone, or the node stops; kDeadlineExceeded.
  Status SleepUntil(TimePoint when) const;
  // Carries the caller's cancellation; may be null. ClientSession passes it on to nested calls.
  const std::shared_ptr<IncomingCall>& call() const { return call_; }

 private:
  const RequestTerms terms_;
  const std::shared_ptr<IncomingCall> call_;
  World& world_;
  std::string extension_;
  std::string answer_extension_;
  const LimitedRequest* limited_ = nullptr;
  TurnTaker* turns_ = nullptr;
};

}  // namespace neptune
