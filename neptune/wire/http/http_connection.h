// One connection of an HttpServer: its reader, its requests in order, its timeouts. Internal to
// http_server.
//
//   stream ─► reader ─► slot │ slot │ slot ─► stream
//                        │ request   ▲ response, in any order; only the front one is sent
//                        └► thread ──┘
//
// Threads: the loop of its server only.
// Limits: HttpServerOptions.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "neptune/wire/http/http_server.h"
#include "neptune/wire/http/message_writer.h"

namespace neptune {

// State shared by the server, its connections and running handlers; it may outlive the server.
struct HttpServerCore {
  World& world;
  ThreadScheduler& threads;
  Loop& loop;
  const HttpServerOptions options;
  const HttpHandler handler;
  HttpServer* server;  // null once destroyed
  size_t running_count = 0;

  void NoteResponse(int status, Duration took) const;
  static void Count(Counter* counter) {
    if (counter != nullptr) counter->Increment();
  }
  void HandlerEnded();
};

class HttpConnection final : public StreamHandler,
                             public std::enable_shared_from_this<HttpConnection> {
 public:
  // `turned_away`: the client is over a limit; its first request is answered 503.
  HttpConnection(std::shared_ptr<HttpServerCore> core, uint64_t id, std::unique_ptr<Stream> stream,
                 bool turned_away);
  ~HttpConnection() override;

  void Start();
  // Ends the connection after the requests in progress, or at once if there are none.
  void Drain();
  // Ends the connection now; unsent answers are lost.
  void Abort();

 private:
  // State of the last answer: not written, being sent, sent.
  enum class Ending { kNot, kSending, kLingering };

  struct Slot {
    HttpAnswerContext context;
    TimePoint received;
    bool exclusive = false;  // no other request runs beside this one
    std::optional<HttpResponse> response{};
  };

  void OnData(std::string_view bytes) override;
  void OnClosed(const Status& reason) override;
  void OnDrained() override;

  void Advance();
  void HandleRequests();
  bool MayTakeRequest() const;
  bool MayRead() const;
  std::optional<HttpRequest> NextRequest();
  void Dispatch(HttpRequest request);
  void RunHandler(uint64_t number, HttpRequest request);
  void Answer(uint64_t number, HttpResponse response);
  void AnswerReadError();
  void PushLastAnswer(HttpResponse response);
  void SendContinue();
  void SendAnswers();
  void SendFront();
  void UpdateReading();
  void AdvanceSoon();

  TimePoint Deadline() const;
  TimePoint ReadDeadline() const;
  void NoteProgress();
  void UpdateTimer();
  void OnTimer();
  void TimeOut();
  void EndWhenSent();
  void EndOrLinger();
  void End();

  TimePoint now() const { return core_->loop.Now(); }
  bool open() const { return stream_ != nullptr; }
  bool unsent_high() const { return stream_->unsent_size() > core_->options.unsent_size_max; }

  const std::shared_ptr<HttpServerCore> core_;
  const uint64_t id_;
  const Endpoint peer_;
  std::unique_ptr<Stream> stream_;
  const bool turned_away_;
  HttpRequestReader reader_;
  const std::shared_ptr<std::atomic<bool>> client_gone_ =
      std::make_shared<std::atomic<bool>>(false);
  std::optional<HttpRequest> held_;  // read; waits for the requests before it to end
  std::deque<Slot> slots_;
  uint64_t front_number_ = 0;  // number of slots_.front()
  bool last_taken_ = false;    // no request is taken after those in slots_
  bool lingers_;  // drop input for a while at the end, which the client does not expect
  Ending ending_ = Ending::kNot;
  bool advancing_ = false;
  bool advance_posted_ = false;
  bool reading_ = true;
  bool draining_ = false;

  HttpRequestReader::Phase phase_ = HttpRequestReader::Phase::kBetweenRequests;
  TimePoint phase_began_;
  size_t unsent_seen_ = 0;
  size_t unsent_mark_ =
      0;  // below this number of unsent bytes, the client has read enough to reset the timeout
  TimePoint unsent_since_;
  TimePoint linger_until_ = kNever;
  TimerId timer_ = 0;
  TimePoint timer_at_ = kNever;
};

}  // namespace neptune
