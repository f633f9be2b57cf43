// The requests of one connection and their answers, in order: which request may start next, and
// which answer is sent next.
//
//   bytes ─Feed─► reader ─Take─► slot │ slot │ slot ─TakeAnswered─► answer
//                                 │ request   ▲ Answer, in any order; only the front one leaves
//                                 └► handler ─┘
//
// A request in progress has an IncomingCall, which Clear cancels: its client is gone.
//
// Source: RFC 9112 9.3.2: GET, HEAD and OPTIONS run beside each other; a request of another method
//   waits for those before it and runs alone.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Limits: `in_flight_count_max` requests; those of HttpRequestReader. The caller stops feeding
//   while MayTake is false.

#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "neptune/base/time.h"
#include "neptune/wire/http/http_message.h"
#include "neptune/wire/http/message_writer.h"
#include "neptune/wire/http/request_reader.h"

namespace neptune {

class IncomingCall;

class HttpPipeline {
 public:
  struct Options {
    HttpReaderOptions reader;
    size_t in_flight_count_max = 16;
    // Takes one request, whose answer closes the connection.
    bool takes_one = false;
    // Decides about bodies; outlives the pipeline. Null: none is refused.
    HttpBodyGate* gate = nullptr;
  };
  static constexpr TimePoint kNotHeld = TimePoint::min();
  struct Taken {
    uint64_t number;  // for Answer
    HttpRequest request;
  };
  struct Slot {
    HttpAnswerContext context;
    TimePoint received;
    bool exclusive = false;  // no other request runs beside this one
    std::optional<HttpResponse> response{};
    std::shared_ptr<IncomingCall> call{};  // null: no handler runs for it
    TimePoint held_until = kNotHeld;       // the response is sent no earlier
  };

  explicit HttpPipeline(const Options& options)
      : options_(options), reader_(options.reader, options.gate) {}

  // Appends received bytes; drops them once last_taken.
  void Feed(std::string_view bytes);
  HttpRequestReader::Phase phase() const { return reader_.phase(); }
  const std::optional<HttpReadError>& read_error() const { return reader_.error(); }
  // Bytes of the body that is arriving.
  size_t body_size() const { return reader_.body_size(); }
  // Reads no more: read_error() is `error` from now on, unless there was one before.
  void Refuse(HttpReadError error) { reader_.Refuse(std::move(error)); }

  // True if a request may start now, once all of its bytes are there.
  bool MayTake() const;
  // Returns the next request, in progress from now on; nullopt if it is not complete or has to wait
  // for the requests before it. REQUIRES: MayTake().
  std::optional<Taken> Take(TimePoint now);
  // Sets what Clear cancels if the request is not answered before. REQUIRES: it was just taken.
  void SetCall(std::shared_ptr<IncomingCall> call) { slots_.back().call = std::move(call); }
  // Sets the answer of a request, to be sent no earlier than `held_until`; false: the request is
  // not in progress any more. While an answer is held, no request is taken.
  bool Answer(uint64_t number, HttpResponse response, TimePoint held_until = kNotHeld);
  // The connection ends after the answer of this request; what came after it is not answered.
  void EndAfter(uint64_t number);
  // Adds an answer without a request, after all the others; no request is taken after it.
  void AnswerLast(HttpResponse response, TimePoint now, bool is_head = false,
                  TimePoint held_until = kNotHeld);
  // Removes and returns the oldest request if it was answered, and its answer is not held longer.
  std::optional<Slot> TakeAnswered(TimePoint now);
  // Answers that are held, and the time at which the next one may be sent, if it is the oldest;
  // kNever: it is not, or none is held.
  size_t held_count() const { return held_count_; }
  TimePoint NextRelease() const;
  // Holds no answer any longer.
  void ReleaseAll();

  // True if a client waits for "100 Continue" with nothing else to be sent; once per request.
  bool ConsumeExpectsContinue();
  // No request is taken any more.
  void TakeNoMore() { last_taken_ = true; }
  // Forgets all requests, then cancels the calls of those that were not answered.
  void Clear();

  // True if no request is in progress.
  bool empty() const { return slots_.empty(); }
  // True if the next byte begins a request, which may start at once: nothing is in progress, and
  // nothing has arrived that was not taken.
  bool AwaitsRequest() const {
    return slots_.empty() && held_ == nullptr && !last_taken_ && reader_.awaits_request();
  }
  // True if a complete request waits for those before it.
  bool holds() const { return held_ != nullptr; }
  // True if no request is taken after those in progress.
  bool last_taken() const { return last_taken_; }

 private:
  Slot* SlotOf(uint64_t number);

  const Options options_;
  HttpRequestReader reader_;
  std::unique_ptr<HttpRequest> held_;  // read; waits for the requests before it to end
  std::list<Slot> slots_;              // a list holds no memory while it is empty
  size_t held_count_ = 0;              // answers that are held
  uint64_t front_number_ = 0;          // number of slots_.front()
  bool last_taken_ = false;
};

}  // namespace neptune
