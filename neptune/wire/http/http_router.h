// Chooses the handler of a request by its method and path.
//
// Source: RFC 9110 9.1 and 15.5.6 (405 with Allow). Departs from source: none.
// No I/O.
// Threads: immutable once requests come; Handle from any thread.
// Errors: an unknown path is answered 404, a method the path does not have 405 with Allow, both as
//   problem documents. A route given twice is a bug and stops the process.
// Ties: an exact path wins over prefixes, a longer prefix over a shorter one. HEAD goes to GET's
//   handler, OPTIONS is answered with Allow, each unless the path has its own.

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
  // `path` as it is after %XX decoding: "/search".
  HttpRouter& Add(std::string_view method, std::string_view path, HttpHandler handler);
  // Every path that begins so: "/doc/".
  HttpRouter& AddPrefix(std::string_view method, std::string_view prefix, HttpHandler handler);

  HttpResponse Handle(const HttpRequest& request) const;

  // All that were added: exact ones, then prefixes, each by path and method.
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
