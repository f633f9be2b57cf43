// Serves HTTP/1.1 on one loop: each request runs a plain blocking handler on a user-level thread.
//
//   Listener ─► HttpConnection (reader ─► slots in request order ─► stream)   one for each client
//                     │ request              ▲ response
//                     ├─► user-level thread ─┘   HttpHandler: HttpResponse(const HttpRequest&)
//                     └─► HttpShortWay           usual requests whose answer is at hand, from bytes
//
// Responses are sent in the order of the requests. Pipelined GET, HEAD and OPTIONS requests of one
// connection run concurrently; any other method runs alone.
//
// Source: RFC 9112. Departs from source: no upgrade, no trailers, no transfer coding but chunked.
// Runs unchanged in the real and the simulated world.
// Threads: the loop of its thread scheduler only.
// Errors: a malformed request is answered with its 4xx or 5xx status as a problem document, and the
//   connection is closed; so is one whose handler throws (500) or whose body is refused. A request
//   for which no thread is available is answered 503.
// Limits: HttpServerOptions. At connection_count_max, or at the limit of the node's connections,
//   the one that waits for the longest time gives its place to a new one (http_places.h); at
//   connections_per_address_max, one of the same address. At body_bytes_max, the newest body of the
//   address that holds most is refused (http_body_budget.h). If all are at work, the new client is
//   answered 503 and closed. At in_flight_count_max or unsent_size_max the connection is not read
//   until it is below the limit again. While memory is short, the slowest client is closed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/http/http_message.h"
#include "neptune/wire/http/http_router.h"
#include "neptune/world/world.h"

namespace neptune {

class ConnectionSlots;
class HttpBodyBudget;
class MemoryBudget;

// Default of HttpServerOptions::body_bytes_max.
inline constexpr size_t kBodyBytesMax = size_t{64} << 20;

// Metrics of one server, shared by its loops: neptune_http_*{server="NAME"}.
struct HttpServerMetrics {
  Counter* connections = nullptr;
  Counter* connections_turned_away = nullptr;
  Counter* read_errors = nullptr;
  Counter* timeouts = nullptr;
  Counter* refusals_held = nullptr;
  Counter* short_answers = nullptr;
  Counter* handler_failures = nullptr;
  // Bodies that were refused: over their limit, for lack of room, at their header.
  Counter* bodies_too_large = nullptr;
  Counter* bodies_without_room = nullptr;
  Counter* bodies_refused_at_header = nullptr;
  Gauge* body_bytes = nullptr;
  Counter* responses[6] = {};  // [status / 100], 0 unused
  HistogramMetric* duration = nullptr;

  // Errors: those of MetricsRegistry, for example a duplicate name.
  static StatusOr<HttpServerMetrics> Make(MetricsRegistry& registry, std::string_view server);
};

// Answers usual requests from their bytes, before they become an HttpRequest and get a thread: a
// HttpGlance is all that it sees. What it leaves alone goes the ordinary way, to the handler, which
// must answer the same for what the short way answers.
//
// Threads: the loop of its server, on no user-level thread. It must not wait.
class HttpShortWay {
 public:
  virtual ~HttpShortWay() = default;
  // Appends a response of status 200 to *out, which ends with its Date: the rest of its head
  // (PreparedHttpHead), and the body unless request.is_head. False: the request goes the ordinary
  // way, and what was appended is dropped.
  virtual bool Answer(const HttpGlance& request, std::string* out) = 0;
};

// The head of responses to HttpShortWay::Answer, as the server writes it for the handler's response
// with these headers and that body. REQUIRES: HttpServerOptions::security_headers of the server.
PreparedHttpHead PrepareHead(HttpResponse response);

// Decides about the body of a request whose header is there: the limit of its size, or the answer
// without it. Here tokens, keys and rates are looked at, so that the server does not hold a body
// that it will refuse. Runs on the loop; it must not wait.
using HttpAtHeader = std::function<HttpBodyPermit(HttpRequest* head)>;

struct HttpServerOptions {
  // Network to listen on; outlives the server. Null: the loop's own network.
  Network* network = nullptr;
  HttpReaderOptions reader;
  // Maximum number of connections. 0: as many as `slots` has, without `slots` kPlaceCountMax.
  // Default: 0, because an idle connection costs one or two KiB, and gives way when places run out.
  size_t connection_count_max = 0;
  // Maximum number of connections per client address, so that no address takes all of them. The
  // loopback address is exempt because proxies connect from it. Larger: fewer users that share a
  // router disturb each other. 0: a quarter of all, at least 256. Default: 0.
  size_t connections_per_address_max = 0;
  // How long a client that has not sent its (whole) request, or reads nothing, keeps its place when
  // others want it. Larger: slow links keep theirs, more clients are turned away under attack.
  // Default: 1 s, several round trips.
  Duration give_way_after = std::chrono::seconds(1);
  // Number of connections over the limits that are answered 503; further ones are closed at once.
  // Default: 64.
  size_t turned_away_count_max = 64;
  // Maximum number of unanswered requests per connection. Default: 16.
  size_t in_flight_count_max = 16;
  // Number of unsent answer bytes above which a connection is not read. The answers of requests in
  // flight come on top. Default: 1 MiB.
  size_t unsent_size_max = 1 << 20;
  // Maximum time from a request's first byte to the end of its header, regardless of progress.
  Duration header_timeout = std::chrono::seconds(10);
  // Asked about each request with a body before the body is read; null: HttpReaderOptions alone
  // limits bodies.
  HttpAtHeader at_header = nullptr;
  // What the bodies of all connections may hold together. The servers of a node's loops share one
  // budget. Null: one of this server's own, of body_bytes_max.
  std::shared_ptr<HttpBodyBudget> bodies = nullptr;
  // Larger: more large bodies arrive at once; more memory in the hands of clients. Default: 64 MiB,
  // four of the largest bodies that the frontend takes.
  size_t body_bytes_max = kBodyBytesMax;
  // Maximum time from the end of the header to the end of the body.
  Duration body_timeout = std::chrono::seconds(30);
  // Maximum time in which neither the rest of a body nor body_progress_size_min bytes of it arrive.
  // Larger: clients that stop hold their bytes for longer.
  Duration body_progress_timeout = std::chrono::seconds(10);
  // Larger: clients on slow links are refused. Default: 32 KiB, about 3 KiB/s.
  size_t body_progress_size_min = 32 << 10;
  // Maximum time of an open connection without a request. Larger: clients reuse connections after
  // longer pauses. Default: 5 min, longer than proxies keep theirs, so that these close first.
  Duration idle_timeout = std::chrono::minutes(5);
  // Maximum time in which a client reads neither all of its answers nor write_size_min bytes of
  // them.
  Duration write_timeout = std::chrono::seconds(30);
  // Larger: clients on slow links are disconnected. Default: 32 KiB, about 1 KiB/s.
  size_t write_size_min = 32 << 10;
  // Maximum time for which a refusal (429 or 503 with Retry-After) is held if its client comes
  // again sooner than it was asked to. Larger: clients in a closed loop cost less, and proxies
  // learn later that they should ask elsewhere. 0: refusals are never held. Default: 1 s.
  Duration refusal_hold_max = std::chrono::seconds(1);
  // Number of refusals that are held at once; further ones are sent at once. Default: 16,384, about
  // 16 MiB.
  size_t refusals_held_max = 16'384;
  // Path of the report on whether the server is ready. Its 503 does not refuse, and is never held,
  // because health checks ask often.
  std::string report_path = "/readyz";
  // Time for which further input is read and dropped after an answer that ends the connection from
  // this side, because closing with unread bytes would reset the connection and lose the answer.
  Duration linger = std::chrono::milliseconds(500);
  // Applies AddSecurityHeaders to every response.
  bool security_headers = true;
  // Answers what it can from the bytes of requests, as long as nothing else is in progress on their
  // connection. Outlives the server. Default: null, every request becomes an HttpRequest.
  HttpShortWay* short_way = nullptr;
  // Memory of the node: a request or response that finds none is answered 503.
  // Null: only the limits above bound what is buffered.
  std::shared_ptr<MemoryBudget> memory = nullptr;
  // Connections of all servers of the node; null: only connection_count_max limits them.
  std::shared_ptr<ConnectionSlots> slots = nullptr;
  // Outlives the server; may be null.
  const HttpServerMetrics* metrics = nullptr;
};

// A budget for the bodies of several servers with these metrics, which may be null.
std::shared_ptr<HttpBodyBudget> MakeHttpBodyBudget(size_t size_max,
                                                   const HttpServerMetrics* metrics);

class HttpConnection;
class HttpConnectionTable;
struct HttpServerCore;

class HttpServer {
 public:
  // Places without ConnectionSlots.
  static constexpr size_t kPlaceCountMax = 65'536;

  // REQUIRES: on the loop of `threads`; `world` and `threads` outlive the server.
  HttpServer(World& world, ThreadScheduler& threads, const HttpServerOptions& options,
             HttpHandler handler);
  // Closes all connections at once. Running handlers finish; their answers are dropped.
  ~HttpServer();

  Status Listen(const Endpoint& at, const ListenOptions& options = {});
  // REQUIRES: Listen succeeded and Drain was not called.
  Endpoint local() const { return listener_->local(); }

  // Serves a stream that was accepted elsewhere.
  void Serve(std::unique_ptr<Stream> stream);

  // Stops listening, ends idle connections, answers requests in progress, and closes the remaining
  // connections at `deadline`. Runs `on_drained` on the loop once no connection and no handler is
  // left. A repeated call replaces both arguments.
  void Drain(TimePoint deadline, Task on_drained);

  size_t connection_count() const;

 private:
  friend class HttpConnection;
  friend struct HttpServerCore;
  void CheckDrained();

  const std::shared_ptr<HttpServerCore> core_;
  const std::unique_ptr<HttpConnectionTable> table_;
  std::unique_ptr<Listener> listener_;
  bool draining_ = false;
  Task on_drained_;
  TimerId drain_timer_ = 0;
};

}  // namespace neptune
