// A guestbook in Redis, accessed with hiredis.
//
// Threads: see ServiceModule.

#pragma once

#include <string>

#include "neptune/examples/guestbook/guestbook_module.h"

namespace neptune::examples {

class RedisGuestbook final : public GuestbookModule {
 public:
  std::string implementation() const override { return "hiredis"; }

 private:
  StatusOr<uint64_t> Sign(const DatabaseAddress& redis, const std::string& name) override;
};

}  // namespace neptune::examples
