// Who may see a node's administration pages and change the node, by a request's peer and headers.
//
//   what                    without a token                          with it
//   /healthz, /readyz       everyone                                 everyone
//   pages                   this machine; machines of the cluster    everyone
//   profiles                this machine                             everyone
//   changes                 none                                     everyone
//
// A client is on this machine if it comes from a loopback address or from the node's own one, and
// on a machine of the cluster if a node is announced from its address. Either must come through no
// proxy and ask for an address or localhost: a browser sends the Host that its page's address has,
// so a page whose name was made to lead here (DNS rebinding) gives itself away. What a page of
// another site makes a browser send is refused in any case.
//
// A token counts from this machine and over TLS; otherwise it would have crossed the network in
// clear. `for_network` says that the network is trusted: pages and profiles are for everyone, and
// tokens are taken in clear.
//
// Source: W3C Fetch Metadata (Sec-Fetch-Site), RFC 6750 (Bearer), RFC 9110 7.6.3 (Via), 15.5.20
//   (421).
// No I/O.
// Threads: immutable; thread-safe if is_member is.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "neptune/wire/http/http_message.h"

namespace neptune {

// What a page or an action asks of its client.
enum class AdminNeed { kNothing, kRead, kProfile, kChange };

enum class AdminRefusal {
  kOtherSite,  // sent by a browser for a page of another site
  kRemote,     // from a machine that may not
  kForwarded,  // through a proxy
  kHost,       // asked for under a name of others
  kToken,      // no token, a wrong one, or the node has none
  kClear,      // a token that has crossed the network in clear
};
inline constexpr size_t kAdminRefusalCount = 6;
// Values of the label "reason".
inline constexpr std::array<const char*, kAdminRefusalCount> kAdminRefusalNames = {
    "other_site", "remote", "forwarded", "host", "token", "clear"};

struct AdminAccessOptions {
  // Empty: all changes are refused. Never shown or logged.
  std::string token;
  // The address that the server listens at; 0: loopback alone counts as this machine.
  uint32_t own_address = 0;
  // True for addresses from which nodes of the cluster are announced; null: there are none.
  std::function<bool(uint32_t address)> is_member = nullptr;
  // The network of the administration ports is trusted. Default: false.
  bool for_network = false;
};

class AdminAccess {
 public:
  explicit AdminAccess(AdminAccessOptions options) : options_(std::move(options)) {}

  struct Refused {
    AdminRefusal reason;
    HttpResponse response;
  };
  // Returns nullopt if the client may do what needs that.
  std::optional<Refused> Refuse(const HttpRequest& request, AdminNeed need) const;

 private:
  bool IsOfThisMachine(uint32_t address) const;
  std::optional<Refused> CheckToken(const HttpRequest& request) const;

  const AdminAccessOptions options_;
};

}  // namespace neptune
