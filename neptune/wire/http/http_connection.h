// One connection of an HttpServer: moves bytes between its stream and its pipeline, runs handlers,
// and ends. Internal to http_server.
//
//   Stream ─► HttpPipeline ─► handler on a user-level thread
//          ◄─              ◄─
//   HttpTimeouts and DeadlineTimer: what the client is late with
//   HttpPlaces::Place: what the connection is doing, so that the server can choose whom to close
//
// Every event ends in Advance, which makes all progress that is possible, or in Settle, if requests
// were answered the short way (HttpShortWay) and nothing else is to be done. While the connection
// is idle it holds no thread, no buffer of its reader, no charge, and sets no timer: the server
// ends idle ones.
//
// Threads: the loop of its server only.
// Limits: HttpServerOptions.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "neptune/wire/connection_slots.h"
#include "neptune/wire/http/deadline_timer.h"
#include "neptune/wire/http/http_body_arrival.h"
#include "neptune/wire/http/http_memory.h"
#include "neptune/wire/http/http_pipeline.h"
#include "neptune/wire/http/http_places.h"
#include "neptune/wire/http/http_server_core.h"
#include "neptune/wire/http/http_timeouts.h"
#include "neptune/wire/http/request_reader.h"

namespace neptune {

class HttpConnection final : public StreamHandler,
                             public std::enable_shared_from_this<HttpConnection> {
 public:
  // `turned_away`: the client is over a limit; its first request is answered 503.
  HttpConnection(std::shared_ptr<HttpServerCore> core, uint64_t id, std::unique_ptr<Stream> stream,
                 bool turned_away, ConnectionSlot slot = {});

  void Start();
  // Ends the connection after the requests in progress, or at once if there are none.
  void Drain();
  // Ends the connection now; unsent answers are lost.
  void Abort();
  // The body that is arriving was refused in favour of those of other addresses.
  void RefuseBody();
  HttpPlaces::Place& place() { return place_; }

 private:
  void OnData(std::string_view bytes) override;
  void OnClosed(const Status& reason) override;
  void OnDrained() override;
  // Answers requests that `bytes` begin with the short way; returns what is left.
  std::string_view TakeShortWay(std::string_view bytes);

  void Advance();
  void AdvanceSoon();
  void TakeRequests();
  void StartRequest(HttpPipeline::Taken&& taken);
  // `is_report`: the answer is never held.
  void Answer(uint64_t number, HttpResponse response, bool is_report = false);
  void AnswerReadError(const HttpReadError& error);
  void SendAnswers();
  void SendAnswer(HttpPipeline::Slot slot);

  // Records what the connection is doing now.
  void Settle(TimePoint now);
  void UpdateReading();
  void NoteProgress(TimePoint now);
  void UpdatePlaceAndTimer(TimePoint now);
  void OnTimer();
  void End();

  // True if the connection is read and no request is in progress.
  bool awaits_bytes() const { return pipeline_.empty() && reading_; }
  bool unsent_high() const { return stream_->unsent_size() > core_->options.unsent_size_max; }

  const std::shared_ptr<HttpServerCore> core_;
  const uint64_t id_;
  const Endpoint peer_;
  HttpPlaces::Place place_;
  std::unique_ptr<Stream> stream_;  // null: the connection has ended
  const bool turned_away_;
  ConnectionSlot slot_;
  HttpMemory memory_;
  HttpBodyArrival body_;
  TimePoint last_request_at_;
  bool was_used_ = false;  // a request was taken
  HttpPipeline pipeline_;
  HttpTimeouts timeouts_;
  DeadlineTimer timer_;
  bool advancing_ = false;
  bool advance_posted_ = false;
  bool reading_ = true;
  bool draining_ = false;
  bool ends_when_sent_ = false;  // the last answer was written
  // Drop input for a while at the end, which the client does not expect.
  bool lingers_;
};

}  // namespace neptune
