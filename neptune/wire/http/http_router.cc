#include "neptune/wire/http/http_router.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/problem.h"

namespace neptune {
namespace {

template <typename Methods>
std::string Allow(const Methods& methods) {
  std::string allow;
  for (const auto& [method, target] : methods) {
    StrAppend(&allow, allow.empty() ? "" : ", ", method);
    if (method == "GET" && !methods.contains("HEAD")) allow += ", HEAD";
  }
  if (!methods.contains("OPTIONS")) StrAppend(&allow, ", OPTIONS");
  return allow;
}

// The methods that the standard names (RFC 9110 9.3, RFC 5789).
bool IsKnown(std::string_view method) {
  constexpr std::array kMethods = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                   "CONNECT", "OPTIONS", "TRACE", "PATCH"};
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

HttpResponse Unknown(std::string_view method) {
  return ProblemResponse(501, "", StrCat("the method ", method, " is not known here"));
}

}  // namespace

HttpRouter& HttpRouter::Add(std::string_view method, std::string_view path, HttpHandler handler,
                            const HttpRouteOptions& options) {
  AddRoute(&exact_, method, path, {std::move(handler), options});
  return *this;
}

HttpRouter& HttpRouter::AddPrefix(std::string_view method, std::string_view prefix,
                                  HttpHandler handler, const HttpRouteOptions& options) {
  AddRoute(&prefixes_, method, prefix, {std::move(handler), options});
  return *this;
}

void HttpRouter::AddRoute(Routes* routes, std::string_view method, std::string_view path,
                          Target target) {
  const bool added = (*routes)[std::string(path)].emplace(std::string(method), target).second;
  CHECK(added) << "route added twice: " << method << " " << path;
  all_.emplace(std::string(method), std::move(target));
}

const HttpRouter::Target* HttpRouter::FindTarget(const Methods& methods, std::string_view method) {
  auto target = methods.find(method);
  if (target == methods.end() && method == "HEAD") target = methods.find("GET");
  return target == methods.end() ? nullptr : &target->second;
}

HttpBodyPermit HttpRouter::AtHeader(HttpRequest* head) const {
  const Methods* const methods = Find(head->path);
  const Target* const target = methods == nullptr ? nullptr : FindTarget(*methods, head->method);
  HttpBodyPermit permit{.size_max = kRouteBodySizeMax};
  if (target != nullptr) {
    permit.size_max = target->options.body_size_max;
    if (target->options.check != nullptr) permit.refusal = target->options.check(*head);
  }
  head->checked_at_header = !permit.refusal;
  return permit;
}

HttpResponse HttpRouter::Handle(const HttpRequest& request) const {
  const Methods* const methods = request.path == "*" ? &all_ : Find(request.path);
  if (methods == nullptr) {
    if (!IsKnown(request.method) && !all_.contains(request.method)) return Unknown(request.method);
    return ProblemResponse(404, "", StrCat("no page at ", request.path));
  }
  const Target* const target = request.path == "*" ? nullptr : FindTarget(*methods, request.method);
  if (target == nullptr) return RefuseMethod(request, *methods);
  if (target->options.check != nullptr && !request.checked_at_header) {
    if (std::optional<HttpResponse> refusal = target->options.check(request)) {
      return *std::move(refusal);
    }
  }
  return target->handler(request);
}

HttpResponse HttpRouter::RefuseMethod(const HttpRequest& request, const Methods& methods) const {
  if (!IsKnown(request.method) && !all_.contains(request.method)) return Unknown(request.method);
  HttpResponse response =
      request.method == "OPTIONS"
          ? HttpResponse{.status = 204, .headers = {}, .body = {}}
          : ProblemResponse(405, "", StrCat(request.path, " does not support ", request.method));
  response.headers.Set("Allow", Allow(methods));
  return response;
}

std::vector<HttpRoute> HttpRouter::routes() const {
  std::vector<HttpRoute> all;
  for (const Routes* const routes : {&exact_, &prefixes_}) {
    for (const auto& [path, methods] : *routes) {
      for (const auto& [method, target] : methods) {
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
