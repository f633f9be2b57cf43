#include "neptune/wire/http/http_fetch.h"

#include <memory>
#include <optional>
#include <utility>

#include "neptune/thread/user_thread.h"
#include "neptune/wire/http/message_writer.h"
#include "neptune/wire/http/response_reader.h"
#include "neptune/world/loop.h"

namespace neptune {
namespace {

// Shared with the connection attempt, which may complete after the caller has stopped waiting.
class Fetch final : public StreamHandler, public std::enable_shared_from_this<Fetch> {
 public:
  Fetch(std::string request, size_t body_size_max)
      : request_(std::move(request)), reader_({.body_size_max = body_size_max}) {
    reader_.Expect("GET");
  }

  void Start(const Endpoint& from, TimePoint deadline) {
    Loop::Current()->network().Connect(
        from, deadline, [self = shared_from_this()](StatusOr<std::unique_ptr<Stream>> stream) {
          if (self->given_up_) return;
          if (!stream.ok()) return self->Finish(stream.status());
          self->stream_ = *std::move(stream);
          self->stream_->Start(self.get());
          self->stream_->Write(self->request_);
        });
  }

  StatusOr<HttpResponse> Wait(const Endpoint& from, TimePoint deadline) {
    ParkResult result = ParkResult::kWoken;
    while (!response_ && result == ParkResult::kWoken) result = this_thread::Park(deadline);
    given_up_ = true;
    stream_.reset();
    if (response_) return *std::move(response_);
    if (result == ParkResult::kStopping)
      return Cancelled("asking ", from.ToString(), ": the node stops");
    return DeadlineExceeded("no answer from ", from.ToString());
  }

 private:
  void OnData(std::string_view bytes) override {
    reader_.Feed(bytes);
    HandleResponse();
  }

  void OnClosed(const Status& reason) override {
    reader_.FeedEnd();
    HandleResponse();
    Finish(Unavailable("closed without an answer: ", ToStd(reason.message())));
  }

  void HandleResponse() {
    StatusOr<std::optional<HttpResponse>> next = reader_.Next();
    if (!next.ok()) return Finish(next.status());
    if (next->has_value()) Finish(**std::move(next));
  }

  // Completes the request; only the first call has an effect.
  void Finish(StatusOr<HttpResponse> response) {
    if (response_) return;
    response_ = std::move(response);
    waiter_->Wake();
  }

  const std::string request_;
  const ThreadRef waiter_{UserThread::Current()};
  HttpResponseReader reader_;
  std::unique_ptr<Stream> stream_;
  std::optional<StatusOr<HttpResponse>> response_;
  bool given_up_ = false;
};

}  // namespace

StatusOr<HttpResponse> HttpFetch(const Endpoint& from, std::string_view target, TimePoint deadline,
                                 size_t body_size_max) {
  const auto fetch = std::make_shared<Fetch>(
      SerializeHttpRequest("GET", target, from.ToString(), {{"Connection", "close"}}),
      body_size_max);
  fetch->Start(from, deadline);
  return fetch->Wait(from, deadline);
}

}  // namespace neptune
