// Chooses the handler of a request by its method and path.
//
// Source: RFC 9110 9.1 and 15.5.6 (405 with Allow). Departs from source: none.
// No I/O.
// Threads: immutable once requests are handled; Handle from any thread.
// Errors: an unknown path is answered 404, a method that the path does not have 405 with Allow,
//   both as problem documents. Adding a route twice is a bug and stops the process.
// Ties: an exact path takes precedence over prefixes, a longer prefix over a shorter one. HEAD is
//   served by GET's handler and OPTIONS is answered with Allow, unless the path has its own handler
//   for them.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/wire/http/http_message.h"

namespace neptune {

// Answers one request, in plain blocking style on a user-level thread.
using HttpHandler = std::function<HttpResponse(const HttpRequest& request)>;

struct HttpRoute {
  std::string method;
  std::string path;
  bool is_prefix = false;

  bool operator==(const HttpRoute&) const = default;
};

class HttpRouter {
 public:
  // Adds an exact path, given after %XX decoding: "/search".
  HttpRouter& Add(std::string_view method, std::string_view path, HttpHandler handler);
  // Adds every path with this prefix: "/doc/".
  HttpRouter& AddPrefix(std::string_view method, std::string_view prefix, HttpHandler handler);

  HttpResponse Handle(const HttpRequest& request) const;

  // Returns all routes: exact paths, then prefixes, each sorted by path and method.
  std::vector<HttpRoute> routes() const;

 private:
  using Methods = std::map<std::string, HttpHandler, std::less<>>;
  using Routes = std::map<std::string, Methods, std::less<>>;

  static void AddRoute(Routes* routes, std::string_view method, std::string_view path,
                       HttpHandler handler);
  const Methods* Find(std::string_view path) const;

  Routes exact_;
  Routes prefixes_;
};

}  // namespace neptune
