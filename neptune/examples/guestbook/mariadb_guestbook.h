// A guestbook in MariaDB, accessed with its client library; mariadb.sql defines the table.
//
// Threads: see ServiceModule.

#pragma once

#include <string>

#include "neptune/examples/guestbook/guestbook_module.h"

namespace neptune::examples {

class MariadbGuestbook final : public GuestbookModule {
 public:
  std::string implementation() const override { return "libmariadb"; }

 private:
  StatusOr<uint64_t> Sign(const DatabaseAddress& mariadb, const std::string& name) override;
};

}  // namespace neptune::examples
