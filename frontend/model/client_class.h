// Determines the service class of a client's request.
//
//   X-Api-Key: KEY                 the class of the key
//   Neptune-Service-Class: NAME    that class, if it has no keys, or the frontend trusts the header
//   neither                        the cluster's default class
//
// Source: [Shen02] 4.2 (classes by client identity).
// No I/O.
// Threads: immutable; thread-safe.
// Errors: kUnauthenticated unknown API key; kPermissionDenied the class requires an API key;
//   kInvalidArgument malformed class name. An unknown class name selects the default class.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/scheduling/scheduler_options.h"
#include "neptune/wire/http/http_message.h"

namespace search::frontend {

struct ClientClass {
  neptune::ClassNumber number = 0;
  // Class name for calls made on the client's behalf.
  std::string name;
};

class ClientClasses {
 public:
  // The classes are those of the keys' ApiKeyHash. `trusts_header`: every client may choose any
  // class, as on a development machine.
  ClientClasses(neptune::SchedulerOptions scheduling,
                std::map<std::string, std::string> class_of_api_key_hash, bool trusts_header);

  neptune::StatusOr<ClientClass> Of(const neptune::HttpRequest& request) const;
  // The same by the values of the two headers; empty: absent.
  neptune::StatusOr<ClientClass> Of(std::string_view api_key, std::string_view class_name) const;

 private:
  const neptune::SchedulerOptions scheduling_;
  const std::map<std::string, std::string> class_of_api_key_hash_;
  const bool trusts_header_;
};

// Refuses the demonstration keys of data/clusters, which everyone knows.
// Errors: kFailedPrecondition, with the class.
neptune::Status CheckDemonstrationKeys(
    const std::map<std::string, std::string>& class_of_api_key_hash);

}  // namespace search::frontend
