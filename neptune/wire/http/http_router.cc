#include "neptune/wire/http/http_router.h"

#include <glog/logging.h>

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/problem.h"

namespace neptune {
namespace {

template <typename Methods>
std::string Allow(const Methods& methods) {
  std::string allow;
  for (const auto& [method, handler] : methods) {
    StrAppend(&allow, allow.empty() ? "" : ", ", method);
    if (method == "GET" && !methods.contains("HEAD")) allow += ", HEAD";
  }
  if (!methods.contains("OPTIONS")) StrAppend(&allow, ", OPTIONS");
  return allow;
}

}  // namespace

HttpRouter& HttpRouter::Add(std::string_view method, std::string_view path, HttpHandler handler) {
  AddRoute(&exact_, method, path, std::move(handler));
  return *this;
}

HttpRouter& HttpRouter::AddPrefix(std::string_view method, std::string_view prefix,
                                  HttpHandler handler) {
  AddRoute(&prefixes_, method, prefix, std::move(handler));
  return *this;
}

void HttpRouter::AddRoute(Routes* routes, std::string_view method, std::string_view path,
                          HttpHandler handler) {
  const bool added =
      (*routes)[std::string(path)].emplace(std::string(method), std::move(handler)).second;
  CHECK(added) << "route added twice: " << method << " " << path;
}

HttpResponse HttpRouter::Handle(const HttpRequest& request) const {
  const Methods* const methods = Find(request.path);
  if (methods == nullptr) {
    return ProblemResponse(404, "", StrCat("no page at ", request.path));
  }
  auto handler = methods->find(request.method);
  if (handler == methods->end() && request.method == "HEAD") handler = methods->find("GET");
  if (handler != methods->end()) return handler->second(request);
  HttpResponse response =
      request.method == "OPTIONS"
          ? HttpResponse{.status = 204, .headers = {}, .body = {}}
          : ProblemResponse(405, "", StrCat(request.path, " does not support ", request.method));
  response.headers.Set("Allow", Allow(*methods));
  return response;
}

std::vector<HttpRoute> HttpRouter::routes() const {
  std::vector<HttpRoute> all;
  for (const Routes* const routes : {&exact_, &prefixes_}) {
    for (const auto& [path, methods] : *routes) {
      for (const auto& [method, handler] : methods) {
        all.push_back({method, path, routes == &prefixes_});
      }
    }
  }
  return all;
}

const HttpRouter::Methods* HttpRouter::Find(std::string_view path) const {
  if (const auto it = exact_.find(path); it != exact_.end()) return &it->second;
  // Every prefix of `path` sorts at or before it, so walking back finds the longest prefix first.
  for (auto it = prefixes_.upper_bound(path); it != prefixes_.begin();) {
    --it;
    if (path.starts_with(it->first)) return &it->second;
  }
  return nullptr;
}

}  // namespace neptune
