#include "neptune/examples/guestbook/mariadb_guestbook.h"

#include <mariadb/mysql.h>

#include <memory>

#include "neptune/base/strings.h"

namespace neptune::examples {
namespace {

using Connection = std::unique_ptr<MYSQL, decltype(&mysql_close)>;

std::string Escaped(const Connection& connection, const std::string& text) {
  std::string escaped(2 * text.size() + 1, '\0');
  escaped.resize(
      mysql_real_escape_string(connection.get(), escaped.data(), text.data(), text.size()));
  return escaped;
}

}  // namespace

// Uses MariaDB like any program: connect, send, wait for the answer. Each step may block.
StatusOr<uint64_t> MariadbGuestbook::Sign(const DatabaseAddress& mariadb, const std::string& name) {
  const Connection connection(mysql_init(nullptr), &mysql_close);
  if (connection == nullptr) return Unavailable("connecting to MariaDB: out of memory");
  if (mysql_real_connect(connection.get(), mariadb.host.c_str(), "guestbook", nullptr, "guestbook",
                         mariadb.port, nullptr, 0) == nullptr) {
    return Unavailable("connecting to MariaDB: ", mysql_error(connection.get()));
  }
  const std::string statement =
      StrCat("INSERT INTO visitors VALUES ('", Escaped(connection, name),
             "', LAST_INSERT_ID(1)) ON DUPLICATE KEY UPDATE visits = LAST_INSERT_ID(visits + 1)");
  if (mysql_real_query(connection.get(), statement.data(), statement.size()) != 0) {
    return Unavailable("querying MariaDB: ", mysql_error(connection.get()));
  }
  return mysql_insert_id(connection.get());
}

}  // namespace neptune::examples
