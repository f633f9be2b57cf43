// Chooses the handler of a request by its method and path.
//
// Source: RFC 9110 9.1 and 15.5.6 (405 with Allow). Departs from source: none.
// No I/O.
// Threads: immutable once requests are handled; Handle from any thread.
// Errors: an unknown path is answered 404, a method that the path does not have 405 with Allow, and
//   a method that nothing here has and the standard does not name 501, as problem documents. Adding
//   a route twice is a bug and stops the process.
// Limits: a route takes bodies of kRouteBodySizeMax bytes unless it says otherwise, and so do paths
//   without a route; AtHeader tells the server before a body is read.
// Ties: an exact path takes precedence over prefixes, a longer prefix over a shorter one. HEAD is
//   served by GET's handler and OPTIONS is answered with Allow, unless the path has its own handler
//   for them.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/wire/http/http_message.h"

namespace neptune {

// Answers one request, in plain blocking style on a user-level thread.
using HttpHandler = std::function<HttpResponse(const HttpRequest& request)>;

// Answers a request that may not be handled; nullopt: it may. It must not wait, and sees no body.
using HttpRouteCheck = std::function<std::optional<HttpResponse>(const HttpRequest& head)>;

inline constexpr size_t kRouteBodySizeMax = 4 * 1024;

struct HttpRouteOptions {
  // Maximum size of the body. Default: 4 KiB, for routes that expect none.
  size_t body_size_max = kRouteBodySizeMax;
  // Made once for each request: before its body is read, or before the handler if there is none.
  // Null: every request is handled.
  HttpRouteCheck check = nullptr;
};

struct HttpRoute {
  std::string method;
  std::string path;
  bool is_prefix = false;

  bool operator==(const HttpRoute&) const = default;
};

class HttpRouter {
 public:
  // Adds an exact path, given after %XX decoding: "/search".
  HttpRouter& Add(std::string_view method, std::string_view path, HttpHandler handler,
                  const HttpRouteOptions& options = {});
  // Adds every path with this prefix: "/doc/".
  HttpRouter& AddPrefix(std::string_view method, std::string_view prefix, HttpHandler handler,
                        const HttpRouteOptions& options = {});

  // For HttpServerOptions::at_header: the limit of the request's body, or the answer of its check.
  // A check that passes is noted in the request and not made again.
  HttpBodyPermit AtHeader(HttpRequest* head) const;
  HttpResponse Handle(const HttpRequest& request) const;

  // Returns all routes: exact paths, then prefixes, each sorted by path and method.
  std::vector<HttpRoute> routes() const;

 private:
  struct Target {
    HttpHandler handler;
    HttpRouteOptions options;
  };
  using Methods = std::map<std::string, Target, std::less<>>;
  using Routes = std::map<std::string, Methods, std::less<>>;

  void AddRoute(Routes* routes, std::string_view method, std::string_view path, Target target);
  const Methods* Find(std::string_view path) const;
  // Null: the path has no such method.
  static const Target* FindTarget(const Methods& methods, std::string_view method);
  HttpResponse RefuseMethod(const HttpRequest& request, const Methods& methods) const;

  Routes exact_;
  Routes prefixes_;
  Methods all_;  // one target of each method, for those who ask about the server as a whole
};

}  // namespace neptune
