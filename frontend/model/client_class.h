// Determines the service class of a client's request.
//
//   X-Api-Key: KEY                 the class of the key
//   Neptune-Service-Class: NAME    that class, if it has no keys, or the frontend trusts the header
//   neither                        the cluster's default class
//
// If a key is required, only the first of these is accepted.
//
// Source: [Shen02] 4.2 (classes by client identity).
// No I/O.
// Threads: immutable; thread-safe.
// Errors: kUnauthenticated unknown API key, or none although one is required; kPermissionDenied the
//   class requires an API key; kInvalidArgument malformed class name. An unknown class name selects
//   the default class.

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
  struct Options {
    // Every client may choose any class, as on a development machine.
    bool trusts_header = false;
    bool requires_key = false;
  };
  // The classes are those of the keys' ApiKeyHash.
  ClientClasses(neptune::SchedulerOptions scheduling,
                std::map<std::string, std::string> class_of_api_key_hash, Options options);

  neptune::StatusOr<ClientClass> Of(const neptune::HttpRequest& request) const;
  // The same by the values of the two headers; empty: absent.
  neptune::StatusOr<ClientClass> Of(std::string_view api_key, std::string_view class_name) const;
  // For requests that have no class: an error if a key is required and the request has none that is
  // known.
  neptune::Status CheckKey(const neptune::HttpRequest& request) const {
    return options_.requires_key ? Of(request).status() : neptune::OkStatus();
  }

 private:
  const neptune::SchedulerOptions scheduling_;
  const std::map<std::string, std::string> class_of_api_key_hash_;
  const Options options_;
};

// Refuses the demonstration keys of data/clusters, which everyone knows.
// Errors: kFailedPrecondition, with the class.
neptune::Status CheckDemonstrationKeys(
    const std::map<std::string, std::string>& class_of_api_key_hash);

}  // namespace search::frontend
