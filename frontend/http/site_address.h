// The site as the pages of one request name it: absolute links begin with the fixed address, or
// with the one that the client asked for.
//
// No I/O.
// Threads: immutable; thread-safe.

#pragma once

#include "frontend/http/gateway_options.h"
#include "frontend/model/site.h"
#include "neptune/wire/http/http_message.h"

namespace search::frontend {

class SiteAddress {
 public:
  explicit SiteAddress(const GatewayOptions& options)
      : site_(options.site),
        has_fixed_address_(options.has_fixed_address),
        is_https_(options.is_https) {}

  Site Of(const neptune::HttpRequest& request) const {
    if (has_fixed_address_) return site_;
    Site site = site_;
    site.base_url =
        BaseUrlFromHost(is_https_ ? "https" : "http", request.headers.Get("Host"), site_.base_url);
    return site;
  }

 private:
  const Site site_;
  const bool has_fixed_address_;
  const bool is_https_;
};

}  // namespace search::frontend
