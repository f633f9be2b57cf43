// What an HttpServer shares with its connections and running handlers. Internal to http_server.
//
// Threads: the loop of its server only.

#pragma once

#include <glog/logging.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "neptune/wire/http/http_memory.h"
#include "neptune/wire/http/http_places.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/wire/http/problem.h"
#include "neptune/wire/http/refusal_hold.h"
#include "neptune/wire/http/request_reader.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {

// May outlive the server, because a running handler keeps it.
struct HttpServerCore {
  World& world;
  ThreadScheduler& threads;
  Loop& loop;
  const HttpServerOptions options;
  const HttpHandler handler;
  HttpSmallMemory small_memory;
  RefusalHold refusals;
  HttpServer* server = nullptr;          // null once destroyed
  HttpConnectionTable* table = nullptr;  // the same
  size_t running_count = 0;
  std::shared_ptr<IncomingCall> spare_call = nullptr;  // for the next request; may be null
  HttpGlance glance = {};                              // of the request at hand
  std::string spare_buffer = {};                       // for the next short answers
  std::string date = {};                               // see Date
  TimePoint date_until = TimePoint::min();

  std::shared_ptr<IncomingCall> MakeCall();
  // Keeps the call of an answered request for the next one, if its handler left no trace in it.
  void KeepForNext(std::shared_ptr<IncomingCall> call);
  void NoteResponse(int status, Duration took) const;
  // Responses that went the short way: of status 200, and 503.
  void NoteShort(int answered_count, int refused_count, Duration took) const;
  void NoteReadError(const HttpReadError& error) const;
  void NoteFailure() const;
  void NoteTimeout() const;
  // The value of Date, which changes once a second; valid until the next call. A clock that is set
  // is noticed within a second.
  std::string_view Date(TimePoint now);
  // When a response is to be sent to the client at `place`: later than now if it is a refusal that
  // is held, else HttpPipeline::kNotHeld.
  TimePoint HoldUntil(const HttpResponse& response, HttpPlaces::Place* place);
  void HandlerEnded();
  void ConnectionEnded(uint64_t id);
};

// Runs `function`, which makes a response; 500 if it throws. The exception's text is logged and not
// sent: it may name what only operators should know.
template <typename Function>
HttpResponse WithoutHttpExceptions(const HttpServerCore& core, std::string_view what,
                                   bool* has_failed, Function&& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    LOG_EVERY_N(ERROR, 100) << "HTTP " << what << " threw: " << error.what();
  } catch (...) {
    LOG_EVERY_N(ERROR, 100) << "HTTP " << what << " threw";
  }
  *has_failed = true;
  core.NoteFailure();
  return ProblemResponse(500, "", "the request could not be handled");
}

// Runs the handler on a user-level thread, then `answer` with its response and whether it has
// failed. Inside an event the handler starts at once, so a short request is answered without a
// hand-off.
// Errors: kResourceExhausted and others of ThreadScheduler: no thread; `answer` will not be called.
template <typename Answer>
Status RunHandler(const std::shared_ptr<HttpServerCore>& core, HttpRequest&& request,
                  Answer answer) {
  Task body = [core, request = std::move(request), answer = std::move(answer)]() mutable {
    bool has_failed = false;
    HttpResponse response = WithoutHttpExceptions(*core, "handler", &has_failed,
                                                  [&] { return core->handler(request); });
    request.call.reset();  // which the answer may recycle
    answer(std::move(response), has_failed);
    core->HandlerEnded();
  };
  ++core->running_count;
  const auto thread = UserThread::Current() == nullptr
                          ? core->threads.RunInPlace(std::move(body), "http")
                          : core->threads.Spawn(std::move(body), "http");
  if (!thread.ok()) core->HandlerEnded();
  return thread.status();
}

}  // namespace neptune
