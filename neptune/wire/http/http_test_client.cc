#include "neptune/wire/http/http_test_client.h"

#include <glog/logging.h>

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/message_writer.h"

namespace neptune {

void HttpTestClient::Connect(const Endpoint& to) {
  loop_.network().Connect(to, loop_.Now() + std::chrono::seconds(10),
                          [this](StatusOr<std::unique_ptr<Stream>> stream) {
                            CHECK(stream.ok()) << stream.status();
                            stream_ = *std::move(stream);
                            stream_->Start(this);
                            stream_->Write(std::exchange(unsent_, {}));
                          });
}

void HttpTestClient::SendBytes(std::string_view bytes) {
  if (stream_ == nullptr) {
    unsent_ += bytes;
  } else {
    stream_->Write(std::string(bytes));
  }
}

void HttpTestClient::Send(std::string_view method, std::string_view target,
                          const HttpHeaders& headers, std::string_view body) {
  reader_.Expect(method);
  SendBytes(SerializeHttpRequest(method, target, "localhost", headers, body));
}

std::string HttpTestClient::Summary() const {
  std::string summary;
  for (const HttpResponse& response : responses_) {
    StrAppend(&summary, response.status, " ", response.body, ";");
  }
  return summary;
}

void HttpTestClient::OnData(std::string_view bytes) {
  received_size_ += bytes.size();
  reader_.Feed(bytes);
  HandleResponses();
}

void HttpTestClient::OnClosed(const Status&) {
  closed_ = true;
  reader_.FeedEnd();
  HandleResponses();
}

void HttpTestClient::HandleResponses() {
  for (auto next = reader_.Next(); next.ok() && next->has_value(); next = reader_.Next()) {
    responses_.push_back(**std::move(next));
    if (on_response_) on_response_();
  }
}

}  // namespace neptune
