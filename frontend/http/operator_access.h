// Access control of the operators' pages: /console, /tracez (which shows users' queries), /statusz.
//
//   on this machine                     a client on the loopback interface, without a proxy
//   Authorization: Bearer TOKEN         any client that has the operators' token
//   operator_pages = anyone             every client
//
// A request forwarded by a proxy (X-Forwarded-For, Forwarded) counts as remote even if the proxy
// runs on this machine. A proxy that adds no such header cannot be detected: it must not forward
// these paths.
//
// No I/O.
// Threads: immutable; thread-safe.

#pragma once

#include <optional>
#include <string>

#include "neptune/wire/http/http_message.h"

namespace search::frontend {

struct OperatorAccessOptions {
  // Every client may see the pages. Default: false, because they show the cluster's hosts and
  // users' queries.
  bool anyone = false;
  // Never shown or logged. Empty: no token is accepted.
  std::string token;
};

class OperatorAccess {
 public:
  explicit OperatorAccess(OperatorAccessOptions options) : options_(std::move(options)) {}

  // Returns 403 with the reason, or nullopt if the client may see the pages.
  std::optional<neptune::HttpResponse> Refuse(const neptune::HttpRequest& request) const;

 private:
  bool HasToken(const neptune::HttpRequest& request) const;

  const OperatorAccessOptions options_;
};

}  // namespace search::frontend
