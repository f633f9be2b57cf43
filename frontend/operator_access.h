// Who may see what a frontend shows of the cluster: /console, /tracez with what others searched for, /statusz.
//
//   on this machine                     a client on the loopback interface that no proxy stands before
//   Authorization: Bearer TOKEN         whoever has the operators' token, from anywhere
//   operator_pages = anyone             everybody
//
// A request that a proxy has passed on (X-Forwarded-For, Forwarded) is its client's, who is elsewhere, however near the proxy
// is. A proxy that says nothing of its clients is told apart by nobody: it must not pass these paths on.
//
// No I/O.
// Threads: immutable; thread-safe.

#pragma once

#include <optional>
#include <string>

#include "neptune/wire/http/http_message.h"

namespace search::frontend {

struct OperatorAccessOptions {
  // Whoever may search may see them. Default: false, since they show the cluster's hosts and what others ask.
  bool anyone = false;
  // Never shown or logged; empty: nobody has it.
  std::string token;
};

class OperatorAccess {
 public:
  explicit OperatorAccess(OperatorAccessOptions options) : options_(std::move(options)) {}

  // 403 with the reason, or nothing if the client may see the pages.
  std::optional<neptune::HttpResponse> Refuse(const neptune::HttpRequest& request) const;

 private:
  bool HasToken(const neptune::HttpRequest& request) const;

  const OperatorAccessOptions options_;
};

}  // namespace search::frontend
