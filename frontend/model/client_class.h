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
// Limits: each key is compared with all of a spec in the same time, some 30 ns each, so that the
//   time tells nothing about them.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  ClientClasses(neptune::SchedulerOptions scheduling,
                const std::map<std::string, std::string>& class_of_api_key, Options options);

  neptune::StatusOr<ClientClass> Of(const neptune::HttpRequest& request) const;
  // The same by the values of the two headers; empty: absent.
  neptune::StatusOr<ClientClass> Of(std::string_view api_key, std::string_view class_name) const;
  // For requests that have no class: an error if a key is required and the request has none that is
  // known.
  neptune::Status CheckKey(const neptune::HttpRequest& request) const {
    return options_.requires_key ? Of(request).status() : neptune::OkStatus();
  }

 private:
  // The class of the key; null: the key is unknown.
  const std::string* ClassOfKey(std::string_view key) const;

  const neptune::SchedulerOptions scheduling_;
  const std::vector<std::pair<std::string, std::string>> keys_;  // with their classes
  const Options options_;
};

}  // namespace search::frontend
