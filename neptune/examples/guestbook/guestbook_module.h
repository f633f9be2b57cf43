// Guestbook: counts visitors in Redis, through a client library that knows nothing of Neptune.
//
//   Sign    long: a name → how often it has signed. Asks Redis with hiredis, which blocks.
//   Greet   long: a name → a greeting. Asks nobody.
//
// Nothing here is about waiting, time limits or a Redis that hangs: the capsule file says all of that. The node program
// has to be the one with interposition, `neptune/node:neptuned_interposed`.
//
// Parameters: redis_host, redis_port. Needed.
// Source: none. Layer: examples. Threads: as ServiceModule says.
// Errors: Sign: kUnavailable Redis cannot be asked, with what the client library says.

#pragma once

#include <string>

#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr char kGuestbook[] = "guestbook";
inline constexpr char kSign[] = "Sign";
inline constexpr char kGreet[] = "Greet";

class GuestbookModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override;
  std::string implementation() const override { return "hiredis"; }
};

}  // namespace neptune::examples
