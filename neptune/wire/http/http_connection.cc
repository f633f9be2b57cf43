#include "neptune/wire/http/http_connection.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/http_connection_table.h"
#include "neptune/wire/http/problem.h"
#include "neptune/wire/http/short_answers.h"

namespace neptune {
namespace {

// Requests handled for one connection before the loop's other connections get a turn.
constexpr int kRequestsPerTurnMax = 32;

constexpr char kNoRoomForBody[] = "the server holds as many bytes of request bodies as it may";

HttpTimeLimits TimeLimits(const HttpServerOptions& options) {
  return {.header = options.header_timeout,
          .body = options.body_timeout,
          .idle = options.idle_timeout,
          .write = options.write_timeout,
          .write_size_min = options.write_size_min,
          .linger = options.linger,
          .body_progress = options.body_progress_timeout,
          .body_progress_size_min = options.body_progress_size_min};
}

HttpStanding StandingOf(const HttpPipeline& pipeline, const HttpTimeouts& timeouts, bool was_used) {
  if (!pipeline.empty() || pipeline.holds()) return HttpStanding::kWorking;
  if (timeouts.has_unsent()) return HttpStanding::kSending;
  // A client that lingers is still sending.
  if (timeouts.phase() != HttpTimeouts::Phase::kBetweenRequests || timeouts.lingers()) {
    return HttpStanding::kReceiving;
  }
  return was_used ? HttpStanding::kIdle : HttpStanding::kFresh;
}

// Returns when what the connection is doing began, or went on.
TimePoint SinceOf(HttpStanding standing, const HttpTimeouts& timeouts, TimePoint last_request_at) {
  if (standing == HttpStanding::kReceiving) return timeouts.phase_began();
  return standing == HttpStanding::kSending ? timeouts.unsent_since() : last_request_at;
}

}  // namespace

HttpConnection::HttpConnection(std::shared_ptr<HttpServerCore> core, uint64_t id,
                               std::unique_ptr<Stream> stream, bool turned_away,
                               ConnectionSlot slot)
    : core_(std::move(core)),
      id_(id),
      peer_(stream->peer()),
      stream_(std::move(stream)),
      turned_away_(turned_away),
      slot_(std::move(slot)),
      memory_(core_->small_memory),
      body_(*core_, {peer_, stream_->is_encrypted(), turned_away}),
      last_request_at_(core_->loop.Now()),
      pipeline_({.reader = core_->options.reader,
                 .in_flight_count_max = core_->options.in_flight_count_max,
                 .takes_one = turned_away,
                 .gate = &body_}),
      timeouts_(TimeLimits(core_->options), core_->loop.Now()),
      timer_(core_->loop),
      lingers_(turned_away) {}

void HttpConnection::Start() {
  body_.Start(weak_from_this());
  stream_->Start(this);  // fresh, so the table ends it if nothing comes
  if (turned_away_) UpdatePlaceAndTimer(core_->loop.Now());
}

void HttpConnection::Drain() {
  draining_ = true;
  const auto self = shared_from_this();
  if (pipeline_.held_count() > 0) {
    core_->refusals.Release(pipeline_.held_count());
    pipeline_.ReleaseAll();
    Advance();
  }
  if (stream_ != nullptr && !ends_when_sent_ && pipeline_.empty() &&
      timeouts_.phase() == HttpTimeouts::Phase::kBetweenRequests) {
    ends_when_sent_ = true;
    AdvanceSoon();
    Advance();
  }
}

void HttpConnection::Abort() {
  const auto self = shared_from_this();
  End();
}

void HttpConnection::OnData(std::string_view bytes) {
  if (core_->options.short_way != nullptr) bytes = TakeShortWay(bytes);
  if (bytes.empty()) return;
  pipeline_.Feed(bytes);
  if (!pipeline_.last_taken() && !memory_.Receive(bytes.size())) {
    pipeline_.Refuse({.status = 503, .reason = "the server has no memory for the request now"});
  }
  Advance();
}

void HttpConnection::OnClosed(const Status&) {
  const auto self = shared_from_this();
  End();
}

void HttpConnection::OnDrained() { Advance(); }

void HttpConnection::RefuseBody() {
  // The body may have been complete by now, and another one begun.
  if (stream_ == nullptr || !body_.IsRefused()) return;
  pipeline_.Refuse({.status = 503, .reason = kNoRoomForBody});
  Advance();
}

// Only while nothing else is in progress, so that answers stay in order and no limit is near.
std::string_view HttpConnection::TakeShortWay(std::string_view bytes) {
  const bool is_busy = !pipeline_.AwaitsRequest() || !reading_ || advance_posted_;
  if (is_busy || draining_ || turned_away_ || ends_when_sent_) return bytes;
  ShortAnswers answers = AnswerShort(bytes, peer_, stream_->unsent_size(), &memory_, core_.get());
  if (answers.empty()) return bytes;
  was_used_ = true;
  last_request_at_ = answers.received;
  timeouts_.NoteWritten(answers.bytes.size());
  timeouts_.RestartPhase(answers.received);
  stream_->Write(std::move(answers.bytes));
  core_->spare_buffer = stream_->TakeBuffer();
  if (unsent_high() || memory_.has_unsent()) AdvanceSoon();
  const TimePoint now = core_->loop.Now();
  core_->NoteShort(answers.answered_count, answers.refused_count, now - answers.received);
  Settle(now);
  return bytes.substr(answers.request_size);
}

// Makes all progress that is possible now. Called after every change of state; a nested call only
// makes the outer one continue.
void HttpConnection::Advance() {
  if (stream_ == nullptr || std::exchange(advancing_, true)) return;
  const auto self = shared_from_this();
  if (stream_->unsent_size() == 0) memory_.NoteDrained();
  NoteProgress(core_->loop.Now());
  SendAnswers();
  TakeRequests();
  advancing_ = false;
  if (stream_ == nullptr) return;  // a handler that ran in place destroyed the server
  if (const auto& error = pipeline_.read_error(); error && !pipeline_.last_taken()) {
    AnswerReadError(*error);
  }
  SendAnswers();
  if (pipeline_.ConsumeExpectsContinue()) stream_->Write("HTTP/1.1 100 Continue\r\n\r\n");
  const TimePoint now = core_->loop.Now();
  NoteProgress(now);
  if (ends_when_sent_ && !timeouts_.has_unsent() && !timeouts_.lingers()) {
    // Closing with unread bytes resets the connection, and the answer may be lost.
    if (!lingers_) return End();
    timeouts_.BeginLinger(now);
  }
  Settle(now);
}

void HttpConnection::Settle(TimePoint now) {
  if (pipeline_.empty()) memory_.EndRequests();
  NoteProgress(now);
  if (memory_.ConsumeRefused() && core_->table != nullptr) core_->table->RelieveSoon();
  UpdateReading();
  UpdatePlaceAndTimer(now);
}

// Calls Advance in the loop's next turn. A stream that was never full does not report when it has
// sent everything, but it sends bytes written in this turn before a task posted now runs.
void HttpConnection::AdvanceSoon() {
  if (std::exchange(advance_posted_, true)) return;
  core_->loop.Post([connection = weak_from_this()] {
    const auto self = connection.lock();
    if (self == nullptr) return;
    self->advance_posted_ = false;
    self->Advance();
  });
}

void HttpConnection::TakeRequests() {
  if (pipeline_.AwaitsRequest()) return;
  for (int count = 0; stream_ != nullptr && !unsent_high() && pipeline_.MayTake(); ++count) {
    if (count == kRequestsPerTurnMax) return AdvanceSoon();
    std::optional<HttpPipeline::Taken> taken = pipeline_.Take(core_->loop.Now());
    if (!taken) return;
    was_used_ = true;
    last_request_at_ = core_->loop.Now();
    memory_.BeginRequest();
    StartRequest(*std::move(taken));
    SendAnswers();
  }
}

void HttpConnection::StartRequest(HttpPipeline::Taken&& taken) {
  const uint64_t number = taken.number;
  if (turned_away_) {
    return Answer(number, ProblemResponse(ResourceExhausted("too many connections")));
  }
  std::unique_ptr<HttpBodyCharge> body;
  if (!body_.Finish(&body)) {
    return Answer(number, ProblemResponse(ResourceExhausted(kNoRoomForBody)));
  }
  const bool is_report = taken.request.path == core_->options.report_path;
  taken.request.peer = peer_;
  taken.request.is_encrypted = stream_->is_encrypted();
  taken.request.call = core_->MakeCall();
  pipeline_.SetCall(taken.request.call);
  const Status started =
      RunHandler(core_, std::move(taken.request),
                 [connection = weak_from_this(), number, is_report, body = std::move(body)](
                     HttpResponse response, bool has_failed) {
                   const auto self = connection.lock();
                   if (self == nullptr) return;
                   if (has_failed) {
                     self->lingers_ = true;
                     self->pipeline_.EndAfter(number);
                   }
                   self->Answer(number, std::move(response), is_report);
                 });
  if (started.ok()) return;
  Answer(number, ProblemResponse(Unavailable("no thread: ", ToStd(started.message()))));
}

void HttpConnection::Answer(uint64_t number, HttpResponse response, bool is_report) {
  if (stream_ == nullptr) return;
  const bool may_hold = !is_report && !draining_ && !turned_away_ && core_->table != nullptr;
  const TimePoint held_until =
      may_hold ? core_->HoldUntil(response, &place_) : HttpPipeline::kNotHeld;
  pipeline_.Answer(number, std::move(response), held_until);
  Advance();
}

// After this answer the connection ends. What the application refuses may be held like its answers.
void HttpConnection::AnswerReadError(const HttpReadError& error) {
  core_->NoteReadError(error);
  body_.Drop();
  lingers_ = true;
  HttpResponse response = error.status == 503 ? ProblemResponse(ResourceExhausted(error.reason))
                                              : ProblemResponse(error.status, "", error.reason);
  if (error.response) response = *error.response;
  const bool may_hold = error.response && !draining_ && core_->table != nullptr;
  const TimePoint held_until =
      may_hold ? core_->HoldUntil(response, &place_) : HttpPipeline::kNotHeld;
  pipeline_.AnswerLast(std::move(response), core_->loop.Now(), error.is_head, held_until);
}

void HttpConnection::SendAnswers() {
  if (pipeline_.empty()) return;
  const TimePoint now = core_->loop.Now();
  while (std::optional<HttpPipeline::Slot> slot = pipeline_.TakeAnswered(now)) {
    if (slot->held_until != HttpPipeline::kNotHeld) core_->refusals.Release();
    SendAnswer(*std::move(slot));
  }
}

void HttpConnection::SendAnswer(HttpPipeline::Slot slot) {
  if (draining_ && pipeline_.empty() && !pipeline_.holds() && slot.context.keep_alive) {
    slot.context.keep_alive = false;
    pipeline_.TakeNoMore();
    lingers_ = true;
  }
  core_->KeepForNext(std::move(slot.call));
  const TimePoint now = core_->loop.Now();
  const size_t body_size = slot.response->body_bytes().size();
  if (!memory_.Send(body_size, stream_->unsent_size())) {
    slot.response = NoMemoryForResponse();
  }
  if (core_->options.security_headers) AddSecurityHeaders(&*slot.response);
  core_->NoteResponse(slot.response->status, now - slot.received);
  HttpResponseBytes bytes =
      MoveHttpResponse(*std::move(slot.response), slot.context, core_->Date(now));
  timeouts_.NoteWritten(bytes.first.size() + bytes.rest.size());
  stream_->Write(std::move(bytes.first));
  if (!bytes.rest.empty()) stream_->Write(std::move(bytes.rest));
  timeouts_.RestartPhase(now);
  if (!slot.context.keep_alive) {
    ends_when_sent_ = true;
    timeouts_.EndLinger();
    // What a client sent after a request whose handler failed.
    core_->refusals.Release(pipeline_.held_count());
    pipeline_.Clear();
  }
  if (ends_when_sent_ || unsent_high() || memory_.has_unsent()) AdvanceSoon();
}

void HttpConnection::UpdateReading() {
  // After the last request, input is read to drop it, and to notice that the client disconnects.
  const bool may_read = pipeline_.last_taken() || (pipeline_.MayTake() && !pipeline_.holds() &&
                                                   !unsent_high() && !advance_posted_);
  if (may_read == std::exchange(reading_, may_read)) return;
  if (may_read) timeouts_.RestartPhase(core_->loop.Now());
  stream_->SetReading(may_read);
}

void HttpConnection::NoteProgress(TimePoint now) {
  timeouts_.Note(pipeline_.phase(), stream_->unsent_size(), now);
  timeouts_.NoteBody(pipeline_.body_size(), now);
}

void HttpConnection::UpdatePlaceAndTimer(TimePoint now) {
  // One that is turned away must have time to learn that; it gives way like a slow client.
  const HttpStanding standing =
      turned_away_ ? HttpStanding::kReceiving : StandingOf(pipeline_, timeouts_, was_used_);
  const bool progressed = SinceOf(standing, timeouts_, last_request_at_) > place_.since();
  if ((standing != place_.standing() || progressed) && core_->table != nullptr) {
    core_->table->NotePlace(&place_, standing, progressed, now);
  }
  if (place_.is_idle()) return;  // the table ends those that stay idle
  const TimePoint deadline = std::min(timeouts_.Deadline(awaits_bytes()), pipeline_.NextRelease());
  timer_.RunBy(deadline, [this] {
    return [connection = weak_from_this()] {
      if (const auto self = connection.lock()) self->OnTimer();
    };
  });
}

void HttpConnection::OnTimer() {
  timer_.HasFired();
  if (stream_ == nullptr || place_.is_idle()) return;
  const TimePoint now = core_->loop.Now();
  NoteProgress(now);
  switch (timeouts_.Judge(awaits_bytes(), now)) {
    case HttpTimeouts::Verdict::kInTime:
      return pipeline_.NextRelease() <= now ? Advance() : UpdatePlaceAndTimer(now);
    case HttpTimeouts::Verdict::kIdle:
      return End();
    case HttpTimeouts::Verdict::kStalledReading:
      core_->NoteTimeout();
      return End();
    case HttpTimeouts::Verdict::kLateRequest:
      core_->NoteTimeout();
      pipeline_.Refuse({.status = 408, .reason = "the request did not arrive in time"});
      return Advance();
  }
}

// REQUIRES: the caller holds a reference to this object.
void HttpConnection::End() {
  if (stream_ == nullptr) return;
  // A client that left bytes unsent does not read; an orderly close would wait for it forever.
  if (stream_->unsent_size() == 0) stream_->Close();
  stream_.reset();
  slot_.Release();
  memory_.Release();
  body_.Drop();
  timer_.Cancel();
  core_->refusals.Release(pipeline_.held_count());
  core_->ConnectionEnded(id_);
  pipeline_.Clear();
}

}  // namespace neptune
