// Options of the gateway; the frontend's module reads them from the cluster spec.
//
// Threads: immutable values.

#pragma once

#include <cstddef>

#include "frontend/http/access_rules.h"
#include "frontend/http/rate_limit.h"
#include "frontend/model/site.h"
#include "neptune/base/time.h"

namespace search::frontend {

struct GatewayOptions {
  // Name, number of documents, and the address for links if a request has no usable Host header.
  Site site;
  // Absolute links always begin with the site's address and ignore the Host header. Needed with a
  // proxy that terminates TLS.
  bool has_fixed_address = false;
  // Connections use TLS, so that absolute links made from the Host header begin with https.
  bool is_https = false;
  // A request may name a class that has API keys without sending a key.
  bool trusts_class_header = false;
  // False: queries are stored neither in traces nor in logs.
  bool keeps_queries = true;
  // Fraction of the searches without a caller's trace that are sampled, i.e. leave spans on every
  // node they reach.
  double sampled_share = 0.01;
  // Rendered pages that are kept to be repeated, over all serving loops; 0: none. Larger: more
  // pages are repeated instead of rendered. Default: some thousand pages of results.
  size_t page_cache_mb = 32;
  // Limits the rate of searches, completions, documents and changes of each client.
  RateLimitOptions rate_limit;
  // Identify clients by the address that a proxy puts into X-Forwarded-For.
  bool trusts_forwarded = false;
  // Access to operators' pages and to changes of documents.
  AccessOptions access;
  // Searches, completions and documents are for clients with an API key only.
  bool requires_key = false;
  // Reloads past the caches of clients other than operators, per search that misses the cache; 1:
  // no limit. See policy/reload_budget.h.
  double reload_share_max = 0.1;
  // How long browsers keep to HTTPS once they have used it; 0: the header is not sent. HTTPS only.
  // Larger: protects users who come back rarely; a host that stops to serve HTTPS is unreachable
  // for that time. Default: a day, because it holds for all ports of the host.
  neptune::Duration strict_transport = std::chrono::hours(24);
  // Time limit of a change of documents.
  neptune::Duration document_write_timeout = std::chrono::seconds(5);
  // How long after start-up searches wait until every partition is known, to avoid partial answers
  // while announcements still arrive. Larger: fewer partial answers on a busy machine; longer waits
  // after a start of a cluster that lacks a partition.
  neptune::Duration meeting_timeout = std::chrono::milliseconds(800);
};

}  // namespace search::frontend
