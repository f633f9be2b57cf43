// Serves HTTP/1.1 on one loop: each request runs a plain blocking handler on a user-level thread.
//
//   Listener ─► HttpConnection (reader ─► slots in request order ─► stream)   one for each client
//                     │ request              ▲ response
//                     └─► user-level thread ─┘   HttpHandler: HttpResponse(const HttpRequest&)
//
// Responses leave in the order of the requests. Pipelined GET, HEAD and OPTIONS of one connection
// run side by side; any other method runs alone.
//
// Source: RFC 9112. Departs from source: no upgrade, no trailers, no transfer coding but chunked.
// Runs unchanged in the real and the simulated world.
// Threads: the loop of its thread scheduler only.
// Errors: what cannot be read is answered with its 4xx or 5xx status as a problem document and the
//   connection closed; a request that finds no thread is answered 503.
// Limits: HttpServerOptions. At connection_count_max, and at connections_per_address_max of one address, a further
//   client is answered 503 and closed; at in_flight_count_max or unsent_size_max the connection is not read until it is below again.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/http/http_router.h"
#include "neptune/wire/http/request_reader.h"
#include "neptune/world/world.h"

namespace neptune {

// Series of one server, shared by its loops: neptune_http_*{server="NAME"}.
struct HttpServerMetrics {
  Counter* connections = nullptr;
  Counter* connections_turned_away = nullptr;
  Counter* read_errors = nullptr;
  Counter* timeouts = nullptr;
  Counter* responses[6] = {};  // [status / 100], 0 unused
  HistogramMetric* duration = nullptr;

  // Errors: those of MetricsRegistry, for instance a name used twice.
  static StatusOr<HttpServerMetrics> Make(MetricsRegistry& registry, std::string_view server);
};

struct HttpServerOptions {
  // Where it listens; outlives the server. Null: the loop's own network.
  Network* network = nullptr;
  HttpReaderOptions reader;
  // Most clients. Default: 1,024.
  size_t connection_count_max = 1024;
  // Most clients of one address, so that none takes all places. The loopback address, where proxies are, is free of it.
  // Larger: fewer users behind one router are turned away. Default: 256.
  size_t connections_per_address_max = 256;
  // Clients beyond these which are told so properly; further ones are closed at once. Default: 64.
  size_t turned_away_count_max = 64;
  // Requests of one connection that are not answered yet. Default: 16.
  size_t in_flight_count_max = 16;
  // Unsent answer bytes at which a connection is no longer read. Default: 1 MiB. The answers of
  // requests in flight come on top.
  size_t unsent_size_max = 1 << 20;
  // From a request's first byte to the end of its header, however slowly bytes drip in.
  Duration header_timeout = std::chrono::seconds(10);
  // From there to the end of its body.
  Duration body_timeout = std::chrono::seconds(30);
  // An open connection without a request.
  Duration idle_timeout = std::chrono::seconds(60);
  // A client that takes neither the rest of its answers nor write_size_min bytes of them.
  Duration write_timeout = std::chrono::seconds(30);
  // Larger: slow lines are cut off. Default: 32 KiB, about a kilobyte a second.
  size_t write_size_min = 32 << 10;
  // After an answer that ends the connection from this side, what the client still sends is read
  // and dropped for so long, because closing on unread bytes would destroy the answer.
  Duration linger = std::chrono::milliseconds(500);
  // Whether AddSecurityHeaders is applied to every response.
  bool security_headers = true;
  // Outlives the server; may be null.
  const HttpServerMetrics* metrics = nullptr;
};

class HttpConnection;
struct HttpServerCore;

class HttpServer {
 public:
  // REQUIRES: on the loop of `threads`; `world` and `threads` outlive the server.
  HttpServer(World& world, ThreadScheduler& threads, const HttpServerOptions& options,
             HttpHandler handler);
  // Closes everything at once. Handlers still running finish; their answers go nowhere.
  ~HttpServer();

  Status Listen(const Endpoint& at, const ListenOptions& options = {});
  // REQUIRES: Listen succeeded and Drain was not called.
  Endpoint local() const { return listener_->local(); }

  // Serves a stream that somebody else accepted.
  void Serve(std::unique_ptr<Stream> stream);

  // Stops listening, ends idle connections, answers what has begun, and closes the rest at
  // `deadline`. Runs `on_drained` on the loop once no connection and no handler is left.
  // A repeated call replaces both.
  void Drain(TimePoint deadline, Task on_drained);

  size_t connection_count() const { return connections_.size(); }

 private:
  friend class HttpConnection;
  friend struct HttpServerCore;
  void Remove(uint64_t id, const Endpoint& peer);
  bool AtLimit(const Endpoint& peer, size_t more) const;
  void CloseAll();
  void CheckDrained();

  const std::shared_ptr<HttpServerCore> core_;
  std::unique_ptr<Listener> listener_;
  std::map<uint64_t, std::shared_ptr<HttpConnection>> connections_;
  std::map<uint32_t, size_t> counts_by_address_;  // of connections_
  uint64_t next_id_ = 1;
  bool draining_ = false;
  Task on_drained_;
  TimerId drain_timer_ = 0;
};

}  // namespace neptune
