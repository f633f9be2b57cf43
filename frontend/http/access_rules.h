// Who may see operators' pages and who may change documents, by a request's peer and headers. All
// pages and changes of the web port ask here.
//
//                  operators' pages                     changes of documents
//   a token given  Authorization: Bearer TOKEN          Authorization: Bearer TOKEN
//   no token       a client on this machine             a client on this machine
//   or else        operator_pages = anyone
//
// A client on this machine has a loopback address, came through no proxy, and asked for this
// machine by name: a browser sends the Host that its page's address has, so a page whose name was
// made to lead to 127.0.0.1 (DNS rebinding) gives itself away. What a page of another site makes a
// browser send is refused, with a token, too.
//
//   request ─► Sec-Fetch-Site of another site ─► 403
//           ─► a token is set: it is the right one ─► yes, else 401
//           ─► not loopback, or X-Forwarded-*, Forwarded, Via, X-Real-IP ─► 403
//           ─► Host does not name this machine ─► 421
//           ─► (changes) Origin is not that of the Host ─► 403
//
// A proxy on this machine that adds none of these headers and sends a local Host cannot be
// distinguished from a client here: set the tokens, or let it not forward these paths.
//
// Source: W3C Fetch Metadata (Sec-Fetch-Site), RFC 6454 (Origin), RFC 6750 (Bearer), RFC 9110 7.6.3
//   (Via), 15.5.20 (421).
// No I/O.
// Threads: immutable; thread-safe.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/wire/http/http_message.h"

namespace search::frontend {

struct AccessOptions {
  // Every client may see operators' pages. Default: false, because they show the cluster's hosts
  // and users' queries.
  bool pages_for_anyone = false;
  // Tokens; never shown or logged. Empty: clients on this machine need none, others have no access.
  std::string operator_token;
  std::string document_token;
  // Host of the frontend's own address, in lower case and without port, if it is served without a
  // proxy: a client on this machine may use it instead of a local name. Empty: none.
  std::string own_host;
  // /metrics and the counts of /readyz are for every client. Default: false, because they show the
  // shape of the traffic and the names of classes.
  bool public_status = false;
};

// What of a request decides about access; the texts are views into it.
struct AccessAsk {
  uint32_t address = 0;
  std::string_view host;
  std::string_view authorization;
  std::string_view fetch_site;
  std::string_view origin;
  bool was_forwarded = false;
};
AccessAsk AccessAskOf(const neptune::HttpRequest& request);
AccessAsk AccessAskOf(const neptune::HttpGlance& request);

enum class Access {
  kGranted,
  kOtherSite,    // sent by a browser for a page of another site
  kNeedsToken,   // no token, or a wrong one
  kRemote,       // not a client on this machine, and no token is set
  kForeignHost,  // a client on this machine that asks for another one
};

// True if the Host names this machine: "localhost", an address of the network 127, "[::1]", or
// `own_host`, with any port or none.
bool IsLocalHost(std::string_view host, std::string_view own_host);

class AccessRules {
 public:
  explicit AccessRules(AccessOptions options) : options_(std::move(options)) {}

  Access OfPages(const AccessAsk& ask) const;
  Access OfChanges(const AccessAsk& ask) const;
  // True for those who may see operators' pages.
  bool IsOperator(const AccessAsk& ask) const { return OfPages(ask) == Access::kGranted; }
  bool MaySeeStatus(const AccessAsk& ask) const {
    return options_.public_status || IsOperator(ask);
  }

  // The refusal with its reason; nullopt if access is granted.
  std::optional<neptune::HttpResponse> RefusePage(const neptune::HttpRequest& request) const;
  std::optional<neptune::HttpResponse> RefuseChange(const neptune::HttpRequest& request) const;

  // How a client that may change documents has shown that it may, for the audit log.
  std::string_view WayOfChanges() const {
    return options_.document_token.empty() ? "loopback" : "token";
  }

 private:
  // The same for a client on this machine without a token.
  Access OfThisMachine(const AccessAsk& ask) const;

  const AccessOptions options_;
};

}  // namespace search::frontend
