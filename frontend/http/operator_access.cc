#include "frontend/http/operator_access.h"

#include "neptune/base/same_secret.h"
#include "neptune/wire/http/problem.h"

namespace search::frontend {
namespace {

constexpr uint32_t kLoopbackNetwork = 127;

bool IsOfThisMachine(const neptune::HttpRequest& request) {
  return request.peer.address >> 24 == kLoopbackNetwork &&
         !request.headers.Has("X-Forwarded-For") && !request.headers.Has("Forwarded");
}

}  // namespace

std::optional<neptune::HttpResponse> OperatorAccess::Refuse(
    const neptune::HttpRequest& request) const {
  if (options_.anyone || IsOfThisMachine(request) || HasToken(request)) return std::nullopt;
  neptune::HttpResponse refusal =
      neptune::ProblemResponse(403, "",
                               "operators' pages are shown to clients on the frontend's own "
                               "machine and to those that send the operators' token "
                               "(parameters operator_pages and operator_token_file)");
  refusal.headers.Set("Cache-Control", "no-store");
  return refusal;
}

bool OperatorAccess::HasToken(const neptune::HttpRequest& request) const {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view given = request.headers.Get("Authorization");
  return !options_.token.empty() && given.starts_with(kScheme) &&
         neptune::SameSecret(given.substr(kScheme.size()), options_.token);
}

}  // namespace search::frontend
