#include "tools/lab/search/node_status.h"

#include <nlohmann/json.hpp>

#include "neptune/base/strings.h"
#include "tools/http/http_get.h"

namespace search::lab {
namespace {

using neptune::DataLoss;
using neptune::StatusOr;
using nlohmann::json;

StatusOr<NodeStatusTable> TableOf(const json& table) {
  if (table.value("rows_left_out", 0) != 0) return DataLoss("the page does not show all rows");
  NodeStatusTable read{.title = table.at("title"), .rows = {}};
  const json& columns = table.at("columns");
  for (const json& row : table.at("rows")) {
    auto& cells = read.rows.emplace_back();
    for (size_t i = 0; i < columns.size(); ++i) {
      const json& cell = row.at(i);
      cells[columns.at(i)] = cell.is_string() ? cell.get<std::string>() : cell.dump();
    }
  }
  return read;
}

std::string Escaped(const std::string& section) {
  std::string escaped;
  for (const char c : section) escaped += c == ' ' ? "%20" : std::string(1, c);
  return escaped;
}

}  // namespace

StatusOr<std::vector<NodeStatusTable>> ParseNodeStatus(std::string_view page,
                                                       const std::string& section) {
  try {
    const json whole = json::parse(page);
    for (const json& one : whole.at("sections")) {
      if (one.at("name") != section) continue;
      std::vector<NodeStatusTable> tables;
      for (const json& table : one.at("tables")) {
        NEPTUNE_ASSIGN_OR_RETURN(NodeStatusTable read, TableOf(table));
        tables.push_back(std::move(read));
      }
      return tables;
    }
  } catch (const json::exception& error) {
    return DataLoss("no status page: ", error.what());
  }
  return DataLoss("the page has no section ", section);
}

StatusOr<std::vector<NodeStatusTable>> ReadNodeStatus(const std::string& admin,
                                                      const std::string& section) {
  NEPTUNE_ASSIGN_OR_RETURN(const tools::HttpOrigin origin, tools::ParseHttpOrigin(admin));
  NEPTUNE_ASSIGN_OR_RETURN(
      const neptune::HttpResponse response,
      tools::HttpGet(origin, neptune::StrCat("/statusz?section=", Escaped(section), "&format=json"),
                     {}, {.timeout = kNodeStatusTimeMax}));
  if (response.status != 200) return DataLoss("the status page answers ", response.status);
  return ParseNodeStatus(response.body, section);
}

}  // namespace search::lab
