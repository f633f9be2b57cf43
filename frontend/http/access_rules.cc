#include "frontend/http/access_rules.h"

#include <algorithm>

#include "neptune/base/same_secret.h"
#include "neptune/base/strings.h"
#include "neptune/wire/http/problem.h"
#include "neptune/world/network.h"

namespace search::frontend {
namespace {

using neptune::EqualsIgnoringCase;
using neptune::HttpResponse;

constexpr uint32_t kLoopbackNetwork = 127;
constexpr std::string_view kForwardedPrefix = "X-Forwarded-";

// What a refusal is about.
struct Door {
  const char* realm;
  const char* who;        // who may pass without a token
  const char* parameter;  // names the file with the token
};
constexpr Door kPages = {"operators", "operators' pages are shown", "operator_token_file"};
constexpr Door kChanges = {"documents", "changes of documents are accepted", "document_token_file"};

bool IsOfLoopback(uint32_t address) { return address >> 24 == kLoopbackNetwork; }

bool IsOfProxy(std::string_view name) {
  if (name.size() > kForwardedPrefix.size() &&
      EqualsIgnoringCase(name.substr(0, kForwardedPrefix.size()), kForwardedPrefix)) {
    return true;
  }
  return EqualsIgnoringCase(name, "Forwarded") || EqualsIgnoringCase(name, "Via") ||
         EqualsIgnoringCase(name, "X-Real-IP");
}

void SetFirst(std::string_view value, std::string_view* field) {
  if (field->data() == nullptr) *field = value;
}

void AddHeader(std::string_view name, std::string_view value, AccessAsk* ask) {
  if (EqualsIgnoringCase(name, "Host")) return SetFirst(value, &ask->host);
  if (EqualsIgnoringCase(name, "Authorization")) return SetFirst(value, &ask->authorization);
  if (EqualsIgnoringCase(name, "Sec-Fetch-Site")) return SetFirst(value, &ask->fetch_site);
  if (EqualsIgnoringCase(name, "Origin")) return SetFirst(value, &ask->origin);
  if (IsOfProxy(name)) ask->was_forwarded = true;
}

// A browser says where the page that asks comes from; programs send no such header.
bool IsOfOtherSite(const AccessAsk& ask) {
  return !ask.fetch_site.empty() && ask.fetch_site != "same-origin" && ask.fetch_site != "none";
}

// True if the page that asks is one of this port. Absent: no page asks.
bool IsOwnOrigin(const AccessAsk& ask) {
  if (ask.origin.data() == nullptr) return true;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (ask.origin.starts_with(scheme)) {
      return EqualsIgnoringCase(ask.origin.substr(scheme.size()), ask.host);
    }
  }
  return false;
}

bool HasToken(const AccessAsk& ask, const std::string& token) {
  constexpr std::string_view kScheme = "Bearer ";
  return ask.authorization.starts_with(kScheme) &&
         neptune::SameSecret(ask.authorization.substr(kScheme.size()), token);
}

// The host without its port; empty: malformed.
std::string_view WithoutPort(std::string_view host) {
  const size_t colon = host.starts_with('[') ? host.find(':', host.find(']')) : host.find(':');
  if (colon == host.npos) return host;
  const std::string_view port = host.substr(colon + 1);
  const bool is_port = port.size() <= 5 && std::all_of(port.begin(), port.end(),
                                                       [](char c) { return c >= '0' && c <= '9'; });
  return is_port ? host.substr(0, colon) : std::string_view();
}

HttpResponse Refusal(int status, const std::string& detail) {
  HttpResponse refusal = neptune::ProblemResponse(status, "", detail);
  refusal.headers.Set("Cache-Control", "no-store");
  return refusal;
}

std::optional<HttpResponse> RefusalOf(Access access, const Door& door) {
  using neptune::StrCat;
  switch (access) {
    case Access::kGranted:
      return std::nullopt;
    case Access::kOtherSite:
      return Refusal(403, StrCat(door.who, " only if no page of another site asks for them"));
    case Access::kNeedsToken: {
      HttpResponse refusal =
          Refusal(401, StrCat(door.who,
                              " for clients that send 'Authorization: Bearer TOKEN' with "
                              "the token of this frontend (parameter ",
                              door.parameter, ")"));
      refusal.headers.Set("WWW-Authenticate", StrCat("Bearer realm=\"", door.realm, "\""));
      return refusal;
    }
    case Access::kRemote:
      return Refusal(403, StrCat(door.who,
                                 " for clients on the frontend's own machine; for others "
                                 "this frontend needs a token (parameter ",
                                 door.parameter, ")"));
    case Access::kForeignHost:
      return Refusal(421, StrCat(door.who,
                                 " for clients on the frontend's own machine that ask for "
                                 "it by a local name, for example 127.0.0.1 or localhost; for "
                                 "others this frontend needs a token (parameter ",
                                 door.parameter, ")"));
  }
  return std::nullopt;
}

}  // namespace

AccessAsk AccessAskOf(const neptune::HttpRequest& request) {
  AccessAsk ask{.address = request.peer.address};
  for (const auto& [name, value] : request.headers) AddHeader(name, value, &ask);
  return ask;
}

AccessAsk AccessAskOf(const neptune::HttpGlance& request) {
  AccessAsk ask{.address = request.peer.address};
  for (size_t i = 0; i < request.header_count; ++i) {
    AddHeader(request.headers[i].first, request.headers[i].second, &ask);
  }
  return ask;
}

bool IsLocalHost(std::string_view host, std::string_view own_host) {
  const std::string_view name = WithoutPort(host);
  if (name.empty()) return false;
  if (EqualsIgnoringCase(name, "localhost") || name == "[::1]") return true;
  if (!own_host.empty() && EqualsIgnoringCase(name, own_host)) return true;
  const auto address = neptune::Endpoint::Parse(neptune::StrCat(name, ":0"));
  return address.ok() && IsOfLoopback(address->address);
}

Access AccessRules::OfThisMachine(const AccessAsk& ask) const {
  if (!IsOfLoopback(ask.address) || ask.was_forwarded) return Access::kRemote;
  return IsLocalHost(ask.host, options_.own_host) ? Access::kGranted : Access::kForeignHost;
}

Access AccessRules::OfPages(const AccessAsk& ask) const {
  if (IsOfOtherSite(ask)) return Access::kOtherSite;
  if (options_.pages_for_anyone) return Access::kGranted;
  if (options_.operator_token.empty()) return OfThisMachine(ask);
  return HasToken(ask, options_.operator_token) ? Access::kGranted : Access::kNeedsToken;
}

Access AccessRules::OfChanges(const AccessAsk& ask) const {
  if (IsOfOtherSite(ask)) return Access::kOtherSite;
  if (!options_.document_token.empty()) {
    return HasToken(ask, options_.document_token) ? Access::kGranted : Access::kNeedsToken;
  }
  const Access access = OfThisMachine(ask);
  if (access != Access::kGranted) return access;
  return IsOwnOrigin(ask) ? Access::kGranted : Access::kOtherSite;
}

std::optional<HttpResponse> AccessRules::RefusePage(const neptune::HttpRequest& request) const {
  return RefusalOf(OfPages(AccessAskOf(request)), kPages);
}

std::optional<HttpResponse> AccessRules::RefuseChange(const neptune::HttpRequest& request) const {
  return RefusalOf(OfChanges(AccessAskOf(request)), kChanges);
}

}  // namespace search::frontend
