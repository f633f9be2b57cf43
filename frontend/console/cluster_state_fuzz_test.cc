// Any input is rejected or yields tables in which every row has one cell per column.

#include <glog/logging.h>

#include <cstdint>
#include <string_view>

#include "frontend/console/cluster_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tables =
      search::frontend::TablesOfStatus(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!tables.ok()) return 0;
  for (const auto& table : *tables) {
    CHECK_LE(table.rows.size(), search::frontend::kConsoleRowsMax);
    for (const auto& row : table.rows) CHECK_EQ(row.size(), table.columns.size());
  }
  return 0;
}
