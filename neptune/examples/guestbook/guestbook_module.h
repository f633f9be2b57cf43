// Guestbook: counts visitors in a database, through a client library that is unaware of Neptune.
//
//   Sign    long: a name → how often it has signed. Queries the database, which blocks.
//   Greet   long: a name → a greeting. Makes no call.
//
// This code does not deal with waiting, time limits or a hanging database: the capsule file does.
// It requires the node program with interposition, `neptune/node:neptuned_interposed`.
//
// Threads: see ServiceModule.
// Errors: Sign: kUnavailable the database call failed, with the client library's message.

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
  void DeclareParameters(ParameterTable& table) final;
  Status Start(ModuleContext& context) final;

 private:
  // Returns how often `name` has signed, including this time. May block.
  virtual StatusOr<uint64_t> Sign(const DatabaseAddress& database, const std::string& name) = 0;

  DatabaseAddress database_;  // fixed before Start
};

}  // namespace neptune::examples
