// A client over a world's stream, for tests of servers: sends bytes, collects responses.
//
// Threads: its loop's own.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/wire/http/http_message.h"
#include "neptune/wire/http/response_reader.h"
#include "neptune/world/world.h"

namespace neptune {

class HttpTestClient final : private StreamHandler {
 public:
  explicit HttpTestClient(Loop& loop) : loop_(loop) {}

  // Connects. Bytes sent before the connection is open are sent once it is.
  void Connect(const Endpoint& to);
  void SendBytes(std::string_view bytes);
  // Sends a request and expects its response.
  void Send(std::string_view method, std::string_view target, const HttpHeaders& headers = {},
            std::string_view body = {});
  void Get(std::string_view target) { Send("GET", target); }
  void SetReading(bool on) { stream_->SetReading(on); }
  void Close() { stream_.reset(); }
  // Runs after each response, on the loop.
  void set_on_response(std::function<void()> on_response) { on_response_ = std::move(on_response); }

  const std::vector<HttpResponse>& responses() const { return responses_; }
  void ForgetResponses() { responses_.clear(); }
  // "200 body;404 body;" of the responses so far.
  std::string Summary() const;
  // Number of bytes received, including incomplete responses.
  size_t received_size() const { return received_size_; }
  bool connected() const { return stream_ != nullptr; }
  bool closed() const { return closed_; }

 private:
  void OnData(std::string_view bytes) override;
  void OnClosed(const Status& reason) override;
  void HandleResponses();

  Loop& loop_;
  std::unique_ptr<Stream> stream_;
  std::string unsent_;
  HttpResponseReader reader_;
  std::vector<HttpResponse> responses_;
  std::function<void()> on_response_;
  size_t received_size_ = 0;
  bool closed_ = false;
};

}  // namespace neptune
