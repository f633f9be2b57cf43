// Which service class a client's request is of.
//
//   X-Api-Key: KEY                 the class of the key
//   Neptune-Service-Class: NAME    that class, if it has no keys, or the frontend trusts the header
//   neither                        the cluster's default class
//
// Source: [Shen02] 4.2 (classes by client identity). No I/O.
// Threads: immutable; thread-safe.
// Errors: kUnauthenticated nobody has that key; kPermissionDenied the class is for clients with a key; kInvalidArgument a
//   header that is no name. A name that is no class is the default one.

#pragma once

#include <map>
#include <string>

#include "neptune/base/status.h"
#include "neptune/scheduling/scheduler_options.h"
#include "neptune/wire/http/http_message.h"

namespace search::frontend {

struct ClientClass {
  neptune::ClassNumber number = 0;
  // For the requests on the client's behalf.
  std::string name;
};

class ClientClasses {
 public:
  // `trusts_header`: whoever asks may say what it is, as on a machine of one's own.
  ClientClasses(neptune::SchedulerOptions scheduling,
                std::map<std::string, std::string> class_of_api_key, bool trusts_header);

  neptune::StatusOr<ClientClass> Of(const neptune::HttpRequest& request) const;

 private:
  const neptune::SchedulerOptions scheduling_;
  const std::map<std::string, std::string, std::less<>> class_of_api_key_;
  const bool trusts_header_;
};

}  // namespace search::frontend
