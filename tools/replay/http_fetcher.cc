#include "tools/replay/http_fetcher.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/message_writer.h"
#include "neptune/wire/http/response_reader.h"

namespace search::tools {

using neptune::Endpoint;
using neptune::HttpHeaders;
using neptune::HttpResponse;
using neptune::Status;
using neptune::StatusOr;
using neptune::Stream;
using neptune::TimePoint;

class HttpFetcher::Connection final : public neptune::StreamHandler,
                                      public std::enable_shared_from_this<Connection> {
 public:
  Connection(neptune::Loop& loop, const Endpoint& server) : loop_(loop), server_(server) {}
  ~Connection() override { StopTimer(); }

  const Endpoint& server() const { return server_; }
  bool usable() const { return !dead_ && !done_; }
  bool dead() const { return dead_; }

  void Send(const std::string& method, std::string request, TimePoint deadline, OnDone done) {
    done_ = std::move(done);
    reader_.Expect(method);
    timer_ = loop_.RunAt(deadline, [self = shared_from_this()] {
      self->timer_ = 0;
      self->Finish(neptune::DeadlineExceeded("no answer from ", self->server_.ToString()));
    });
    if (stream_ != nullptr) return stream_->Write(std::move(request));
    loop_.network().Connect(server_, deadline,
                            [self = shared_from_this(), request = std::move(request)](
                                StatusOr<std::unique_ptr<Stream>> stream) mutable {
                              self->Connected(std::move(stream), std::move(request));
                            });
  }

  // No more callbacks.
  void Abandon() {
    dead_ = true;
    done_ = nullptr;
    StopTimer();
    stream_.reset();
  }

 private:
  void Connected(StatusOr<std::unique_ptr<Stream>> stream, std::string request) {
    if (dead_) return;
    if (!stream.ok()) return Finish(stream.status());
    stream_ = *std::move(stream);
    stream_->Start(this);
    stream_->Write(std::move(request));
  }

  void OnData(std::string_view bytes) override {
    reader_.Feed(bytes);
    Read();
  }

  void OnClosed(const Status& reason) override {
    const auto self = shared_from_this();
    reader_.FeedEnd();
    Read();
    Finish(reason.ok() ? neptune::Unavailable(server_.ToString(), " closed the connection")
                       : reason);
  }

  void Read() {
    StatusOr<std::optional<HttpResponse>> next = reader_.Next();
    if (!next.ok()) return Finish(next.status());
    if (next->has_value()) Finish(**std::move(next));
  }

  // Ends the exchange; after an error, or if the server says so, the connection as well.
  void Finish(StatusOr<HttpResponse> result) {
    const auto self = shared_from_this();
    StopTimer();
    if (!result.ok() || !reader_.keep_alive()) {
      dead_ = true;
      stream_.reset();
    }
    if (!done_) return;
    std::exchange(done_, nullptr)(std::move(result));
  }

  void StopTimer() {
    if (timer_ != 0) loop_.CancelTimer(std::exchange(timer_, 0));
  }

  neptune::Loop& loop_;
  const Endpoint server_;
  std::unique_ptr<Stream> stream_;
  neptune::HttpResponseReader reader_;
  OnDone done_;  // set while an exchange is under way
  neptune::TimerId timer_ = 0;
  bool dead_ = false;
};

HttpFetcher::~HttpFetcher() {
  for (const auto& connection : connections_) connection->Abandon();
}

std::shared_ptr<HttpFetcher::Connection> HttpFetcher::IdleConnection(const Endpoint& server) {
  std::erase_if(connections_, [](const auto& connection) { return connection->dead(); });
  for (const auto& connection : connections_) {
    if (connection->usable() && connection->server() == server) return connection;
  }
  return connections_.emplace_back(std::make_shared<Connection>(loop_, server));
}

void HttpFetcher::Send(const Endpoint& server, const HttpExchange& exchange,
                       neptune::Duration timeout, OnDone done) {
  IdleConnection(server)->Send(
      exchange.method,
      neptune::SerializeHttpRequest(exchange.method, exchange.target, server.ToString(),
                                    exchange.headers, exchange.body),
      neptune::AddSaturated(loop_.Now(), timeout), std::move(done));
}

void HttpFetcher::Get(const Endpoint& server, const std::string& target, const HttpHeaders& headers,
                      neptune::Duration timeout, OnDone done) {
  Send(server, {.target = target, .headers = headers}, timeout, std::move(done));
}

}  // namespace search::tools
