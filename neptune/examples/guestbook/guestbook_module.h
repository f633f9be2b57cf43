// Guestbook: counts visitors in a database, through a client library that knows nothing of Neptune.
//
//   Sign    long: a name → how often it has signed. Asks the database, which blocks.
//   Greet   long: a name → a greeting. Asks nobody.
//
// Nothing here is about waiting, time limits or a database that hangs: the capsule file says all of that. The node
// program has to be the one with interposition, `neptune/node:neptuned_interposed`.
//
// Parameters: host, port of the database. Needed.
// Threads: as ServiceModule says.
// Errors: Sign: kUnavailable the database cannot be asked, with what the client library says.

#pragma once

#include <cstdint>
#include <string>

#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr char kGuestbook[] = "guestbook";
inline constexpr char kSign[] = "Sign";
inline constexpr char kGreet[] = "Greet";

struct DatabaseAddress {
  std::string host;
  uint16_t port = 0;
};

class GuestbookModule : public ServiceModule {
 public:
  Status Start(ModuleContext& context) final;

 private:
  // How often `name` has signed, this time included. May block.
  virtual StatusOr<uint64_t> Sign(const DatabaseAddress& database, const std::string& name) = 0;
};

}  // namespace neptune::examples
