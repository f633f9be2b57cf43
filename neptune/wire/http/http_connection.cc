#include "neptune/wire/http/http_connection.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/problem.h"

namespace neptune {
namespace {

using Phase = HttpRequestReader::Phase;

// Requests handled for one connection before the loop's other connections get a turn.
constexpr int kRequestsPerTurnMax = 32;

// RFC 9112 9.3.2: only these may run beside others of the same connection.
bool IsSafe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

}  // namespace

void HttpServerCore::NoteResponse(int status, Duration took) const {
  if (options.metrics == nullptr) return;
  Count(options.metrics->responses[std::clamp(status / 100, 1, 5)]);
  options.metrics->duration->Record(took);
}

void HttpServerCore::HandlerEnded() {
  --running_count;
  if (server != nullptr) server->CheckDrained();
}

HttpConnection::HttpConnection(std::shared_ptr<HttpServerCore> core, uint64_t id,
                               std::unique_ptr<Stream> stream, bool turned_away)
    : core_(std::move(core)),
      id_(id),
      peer_(stream->peer()),
      stream_(std::move(stream)),
      turned_away_(turned_away),
      reader_(core_->options.reader),
      lingers_(turned_away),
      phase_began_(core_->loop.Now()),
      unsent_since_(phase_began_) {}

HttpConnection::~HttpConnection() {
  if (timer_ != 0) core_->loop.CancelTimer(timer_);
}

void HttpConnection::Start() {
  stream_->Start(this);
  UpdateTimer();
}

void HttpConnection::Drain() {
  draining_ = true;
  const auto self = shared_from_this();
  if (open() && ending_ == Ending::kNot && slots_.empty() && phase_ == Phase::kBetweenRequests) {
    EndWhenSent();
    Advance();
  }
}

void HttpConnection::Abort() {
  const auto self = shared_from_this();
  End();
}

void HttpConnection::OnData(std::string_view bytes) {
  if (last_taken_) return;
  reader_.Feed(bytes);
  Advance();
}

void HttpConnection::OnClosed(const Status&) {
  const auto self = shared_from_this();
  End();
}

void HttpConnection::OnDrained() { Advance(); }

// Makes all progress that is possible now. Called after every change of state; a nested call only
// makes the outer one continue.
void HttpConnection::Advance() {
  if (!open() || std::exchange(advancing_, true)) return;
  const auto self = shared_from_this();
  NoteProgress();
  SendAnswers();
  HandleRequests();
  advancing_ = false;
  if (!open()) return;  // a handler that ran in place destroyed the server
  AnswerReadError();
  SendAnswers();
  SendContinue();
  NoteProgress();
  if (ending_ == Ending::kSending && unsent_seen_ == 0) EndOrLinger();
  if (!open()) return;
  UpdateReading();
  UpdateTimer();
}

void HttpConnection::HandleRequests() {
  for (int taken = 0; MayTakeRequest(); ++taken) {
    if (taken == kRequestsPerTurnMax) return AdvanceSoon();
    std::optional<HttpRequest> request = NextRequest();
    if (!request) return;
    if (!IsSafe(request->method) && !slots_.empty()) {
      held_ = std::move(request);
      return;
    }
    Dispatch(*std::move(request));
    SendAnswers();
  }
}

bool HttpConnection::MayTakeRequest() const {
  if (!open() || last_taken_ || unsent_high()) return false;
  if (held_) return slots_.empty();
  if (!slots_.empty() && slots_.front().exclusive) return false;
  return slots_.size() < core_->options.in_flight_count_max;
}

std::optional<HttpRequest> HttpConnection::NextRequest() {
  if (held_) return std::exchange(held_, std::nullopt);
  return reader_.Next();
}

void HttpConnection::Dispatch(HttpRequest request) {
  request.peer = peer_;
  request.received = now();
  request.client_gone = client_gone_;
  Slot slot{.context = {.head = request.method == "HEAD",
                        .version = request.version,
                        .keep_alive = request.keep_alive && !turned_away_},
            .received = request.received,
            .exclusive = !IsSafe(request.method)};
  last_taken_ = !slot.context.keep_alive;
  slots_.push_back(std::move(slot));
  const uint64_t number = front_number_ + slots_.size() - 1;
  if (turned_away_) {
    return Answer(number, ProblemResponse(ResourceExhausted("too many connections")));
  }
  RunHandler(number, std::move(request));
}

void HttpConnection::RunHandler(uint64_t number, HttpRequest request) {
  Task body = [core = core_, connection = weak_from_this(), number,
               request = std::move(request)]() mutable {
    HttpResponse response = core->handler(request);
    if (const auto open = connection.lock()) open->Answer(number, std::move(response));
    core->HandlerEnded();
  };
  ++core_->running_count;
  // Inside an event the handler starts at once, so a short request is answered without a hand-off.
  const auto thread = UserThread::Current() == nullptr
                          ? core_->threads.RunInPlace(std::move(body), "http")
                          : core_->threads.Spawn(std::move(body), "http");
  if (thread.ok()) return;
  core_->HandlerEnded();
  Answer(number, ProblemResponse(Unavailable("no thread: ", ToStd(thread.status().message()))));
}

void HttpConnection::Answer(uint64_t number, HttpResponse response) {
  if (!open() || number < front_number_) return;
  slots_[number - front_number_].response = std::move(response);
  Advance();
}

// Answers a request that could not be read, after all requests before it.
void HttpConnection::AnswerReadError() {
  if (!reader_.error() || last_taken_) return;
  if (core_->options.metrics != nullptr) core_->Count(core_->options.metrics->read_errors);
  PushLastAnswer(ProblemResponse(reader_.error()->status, "", reader_.error()->reason));
}

// Adds an answer of the server itself, after which the connection ends.
void HttpConnection::PushLastAnswer(HttpResponse response) {
  last_taken_ = true;
  lingers_ = true;
  slots_.push_back(
      {.context = {.keep_alive = false}, .received = now(), .response = std::move(response)});
}

void HttpConnection::SendAnswers() {
  while (!slots_.empty() && slots_.front().response) SendFront();
}

void HttpConnection::SendFront() {
  Slot slot = std::move(slots_.front());
  slots_.pop_front();
  ++front_number_;
  if (draining_ && slots_.empty() && !held_ && slot.context.keep_alive) {
    slot.context.keep_alive = false;
    last_taken_ = true;
    lingers_ = true;
  }
  if (core_->options.security_headers) AddSecurityHeaders(&*slot.response);
  core_->NoteResponse(slot.response->status, now() - slot.received);
  std::string bytes = SerializeHttpResponse(*slot.response, slot.context, core_->world.wall_time());
  unsent_mark_ += bytes.size();  // new bytes must not count as bytes that the client has read
  stream_->Write(std::move(bytes));
  phase_began_ = now();
  if (!slot.context.keep_alive) EndWhenSent();
  if (unsent_high()) AdvanceSoon();
}

void HttpConnection::SendContinue() {
  if (slots_.empty() && !last_taken_ && reader_.ConsumeExpectsContinue()) {
    stream_->Write("HTTP/1.1 100 Continue\r\n\r\n");
  }
}

bool HttpConnection::MayRead() const {
  if (last_taken_) return true;  // to drop input, and to notice that the client disconnects
  return MayTakeRequest() && !held_ && !advance_posted_;
}

void HttpConnection::UpdateReading() {
  const bool may_read = MayRead();
  if (may_read == std::exchange(reading_, may_read)) return;
  if (may_read) phase_began_ = now();
  stream_->SetReading(may_read);
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

// Records when the phase of reading changed, and when the client last read enough of the unsent
// bytes.
void HttpConnection::NoteProgress() {
  if (reader_.phase() != std::exchange(phase_, reader_.phase())) phase_began_ = now();
  const size_t unsent = stream_->unsent_size();
  if (unsent == 0 || unsent_seen_ == 0 || unsent <= unsent_mark_) {
    unsent_since_ = now();
    unsent_mark_ = unsent - std::min(unsent, core_->options.write_size_min);
  }
  unsent_seen_ = unsent;
}

TimePoint HttpConnection::Deadline() const {
  if (unsent_seen_ > 0) return AddSaturated(unsent_since_, core_->options.write_timeout);
  if (ending_ == Ending::kLingering) return linger_until_;
  return slots_.empty() && reading_ ? ReadDeadline() : kNever;
}

TimePoint HttpConnection::ReadDeadline() const {
  const HttpServerOptions& options = core_->options;
  switch (phase_) {
    case Phase::kInHeader:
      return AddSaturated(phase_began_, options.header_timeout);
    case Phase::kInBody:
      return AddSaturated(phase_began_, options.body_timeout);
    case Phase::kBetweenRequests:
      break;
  }
  return AddSaturated(phase_began_, options.idle_timeout);
}

// Keeps one timer, which is only ever moved to an earlier time; if it fires too early it is set
// again.
void HttpConnection::UpdateTimer() {
  const TimePoint deadline = Deadline();
  if (deadline == kNever || (timer_ != 0 && timer_at_ <= deadline)) return;
  if (timer_ != 0) core_->loop.CancelTimer(timer_);
  timer_at_ = deadline;
  timer_ = core_->loop.RunAt(deadline, [connection = weak_from_this()] {
    if (const auto self = connection.lock()) self->OnTimer();
  });
}

void HttpConnection::OnTimer() {
  timer_ = 0;
  if (!open()) return;
  NoteProgress();
  if (now() >= Deadline()) return TimeOut();
  UpdateTimer();
}

void HttpConnection::TimeOut() {
  const bool write_stalled = unsent_seen_ > 0;
  if (!write_stalled && (ending_ == Ending::kLingering || phase_ == Phase::kBetweenRequests)) {
    return End();
  }
  if (core_->options.metrics != nullptr) core_->Count(core_->options.metrics->timeouts);
  if (write_stalled) return End();
  PushLastAnswer(ProblemResponse(408, "", "the request did not arrive in time"));
  Advance();
}

void HttpConnection::EndWhenSent() {
  ending_ = Ending::kSending;
  AdvanceSoon();
}

// Ends the connection after everything was sent. If the client does not expect the end, its further
// input is read and dropped for a while, because closing with unread bytes resets the connection
// and the answer may be lost.
void HttpConnection::EndOrLinger() {
  if (!lingers_) return End();
  ending_ = Ending::kLingering;
  linger_until_ = now() + core_->options.linger;
}

// REQUIRES: the caller holds a reference to this object.
void HttpConnection::End() {
  if (!open()) return;
  // A client that left bytes unsent does not read; an orderly close would wait for it forever.
  if (stream_->unsent_size() == 0) stream_->Close();
  stream_.reset();
  *client_gone_ = true;
  slots_.clear();
  held_.reset();
  if (timer_ != 0) core_->loop.CancelTimer(std::exchange(timer_, 0));
  if (core_->server != nullptr) core_->server->Remove(id_, peer_);
}

}  // namespace neptune
