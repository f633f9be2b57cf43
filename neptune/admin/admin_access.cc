#include "neptune/admin/admin_access.h"

#include <string_view>

#include "neptune/base/same_secret.h"
#include "neptune/wire/http/http_syntax.h"
#include "neptune/wire/http/problem.h"
#include "neptune/world/network.h"

namespace neptune {
namespace {

constexpr std::string_view kForwardedPrefix = "X-Forwarded-";

AdminAccess::Refused Refusal(AdminRefusal reason, int status, std::string_view detail) {
  return {reason, ProblemResponse(status, "", detail)};
}

// A browser says where the page that asks comes from; programs send no such header.
bool IsOfOtherSite(const HttpHeaders& headers) {
  const std::string_view site = headers.Get("Sec-Fetch-Site");
  return !site.empty() && site != "same-origin" && site != "none";
}

bool WasForwarded(const HttpHeaders& headers) {
  for (const auto& [name, value] : headers) {
    const bool has_prefix =
        name.size() > kForwardedPrefix.size() &&
        EqualsIgnoringCase(name.substr(0, kForwardedPrefix.size()), kForwardedPrefix);
    if (has_prefix || EqualsIgnoringCase(name, "Forwarded") || EqualsIgnoringCase(name, "Via") ||
        EqualsIgnoringCase(name, "X-Real-IP")) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool AdminAccess::IsOfThisMachine(uint32_t address) const {
  constexpr uint32_t kNetShift = 24;
  return address >> kNetShift == kLoopbackAddress >> kNetShift ||
         (options_.own_address != 0 && address == options_.own_address);
}

std::optional<AdminAccess::Refused> AdminAccess::CheckToken(const HttpRequest& request) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (options_.token.empty()) {
    return Refusal(AdminRefusal::kToken, 403,
                   "this node has no admin token, so changes are disabled");
  }
  const std::string_view given = request.headers.Get("Authorization");
  if (!given.starts_with(kScheme) || !SameSecret(given.substr(kScheme.size()), options_.token)) {
    Refused refused = Refusal(AdminRefusal::kToken, 401, "the admin token is missing or wrong");
    refused.response.headers.Add("WWW-Authenticate", "Bearer");
    return refused;
  }
  if (options_.for_network || request.is_encrypted || IsOfThisMachine(request.peer.address)) {
    return std::nullopt;
  }
  return Refusal(
      AdminRefusal::kClear, 403,
      "the admin token has crossed the network in clear: change it, and send it by https "
      "(needs node_tls) or from the node's machine; admin_access: \"network\" in the "
      "spec trusts the network");
}

std::optional<AdminAccess::Refused> AdminAccess::Refuse(const HttpRequest& request,
                                                        AdminNeed need) const {
  if (need == AdminNeed::kNothing) return std::nullopt;
  const HttpHeaders& headers = request.headers;
  if (IsOfOtherSite(headers)) {
    return Refusal(AdminRefusal::kOtherSite, 403, "a page of another site asks");
  }
  if (need == AdminNeed::kChange || headers.Has("Authorization")) return CheckToken(request);
  if (options_.for_network) return std::nullopt;
  const uint32_t address = request.peer.address;
  const bool is_near = IsOfThisMachine(address);
  const bool is_member =
      need == AdminNeed::kRead && options_.is_member != nullptr && options_.is_member(address);
  if (!is_near && !is_member) {
    return Refusal(AdminRefusal::kRemote, 403,
                   need == AdminNeed::kRead
                       ? "pages are shown to clients on the machines of the cluster, and with "
                         "admin_access: \"network\" in the spec to all"
                       : "profiles are taken for clients on the node's machine, and with "
                         "admin_access: \"network\" in the spec for all");
  }
  if (WasForwarded(headers)) {
    return Refusal(AdminRefusal::kForwarded, 403, "the request came through a proxy");
  }
  const std::string_view host = headers.Get("Host");
  if (host.empty() || IsAddressOrLocalHost(host)) return std::nullopt;
  return Refusal(AdminRefusal::kHost, 421,
                 "ask for the node by its address or as localhost, not under another name");
}

}  // namespace neptune
