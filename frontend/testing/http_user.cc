#include "frontend/testing/http_user.h"

#include <utility>

#include "neptune/wire/http/message_writer.h"

namespace search::frontend {

using neptune::HttpResponse;
using neptune::Status;
using neptune::StatusOr;

void HttpUser::Send(const neptune::Endpoint& to, std::string_view method, std::string_view target,
                    const neptune::HttpHeaders& headers) {
  reader_.Expect(method);
  std::string bytes = neptune::SerializeHttpRequest(method, target, "search.test", headers);
  loop_.network().Connect(
      to, loop_.Now() + std::chrono::seconds(10),
      [this, bytes = std::move(bytes)](StatusOr<std::unique_ptr<neptune::Stream>> stream) mutable {
        if (!stream.ok()) return Finish(stream.status());
        stream_ = *std::move(stream);
        stream_->Start(this);
        stream_->Write(std::move(bytes));
      });
}

void HttpUser::OnData(std::string_view bytes) {
  reader_.Feed(bytes);
  StatusOr<std::optional<HttpResponse>> next = reader_.Next();
  if (!next.ok()) return Finish(next.status());
  if (next->has_value()) Finish(**std::move(next));
}

void HttpUser::OnClosed(const Status& reason) {
  Finish(neptune::Unavailable("closed without an answer: ", neptune::ToStd(reason.message())));
}

void HttpUser::Finish(StatusOr<HttpResponse> response) {
  stream_.reset();
  if (on_done_) std::exchange(on_done_, nullptr)(std::move(response));
}

}  // namespace search::frontend
