// Concurrent HTTP client over a world's streams; plays the user of a simulated or real cluster.
//
// Source: RFC 9112.
// Threads: its loop's own; must be destroyed on the loop or after the loop has stopped.
// Errors: of one exchange: UNAVAILABLE connect refused or connection lost, DEADLINE_EXCEEDED,
//   INVALID_ARGUMENT a malformed response. An HTTP status is an answer, not an error.
// Limits: one exchange per connection at a time; idle connections are reused.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/base/status.h"
#include "neptune/wire/http/http_message.h"
#include "neptune/world/world.h"

namespace search::tools {

struct HttpExchange {
  std::string method = "GET";
  std::string target;
  neptune::HttpHeaders headers = {};
  std::string body = {};
};

class HttpFetcher {
 public:
  using OnDone = absl::AnyInvocable<void(neptune::StatusOr<neptune::HttpResponse>)>;

  explicit HttpFetcher(neptune::Loop& loop) : loop_(loop) {}
  ~HttpFetcher();
  HttpFetcher(const HttpFetcher&) = delete;
  HttpFetcher& operator=(const HttpFetcher&) = delete;

  // Calls `done` exactly once, within `timeout` from now, never inside this call.
  void Send(const neptune::Endpoint& server, const HttpExchange& exchange,
            neptune::Duration timeout, OnDone done);
  void Get(const neptune::Endpoint& server, const std::string& target,
           const neptune::HttpHeaders& headers, neptune::Duration timeout, OnDone done);

 private:
  class Connection;
  std::shared_ptr<Connection> IdleConnection(const neptune::Endpoint& server);

  neptune::Loop& loop_;
  std::vector<std::shared_ptr<Connection>> connections_;
};

}  // namespace search::tools
