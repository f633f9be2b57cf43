#include "tools/cluster/status_page.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "neptune/base/foreign_json.h"

namespace search::tools {
namespace {

using neptune::DataLoss;
using neptune::StatusOr;
using nlohmann::json;

// A whole page, with the tables of all replicas of a node.
constexpr neptune::JsonLimits kPageLimits{
    .size_max = size_t{64} << 20, .depth_max = 16, .value_count_max = 5'000'000};

StatusOr<StatusTable> TableOf(const json& table) {
  if (table.value("rows_left_out", 0) != 0) return DataLoss("the page does not show all rows");
  StatusTable read{.title = table.at("title"), .rows = {}};
  const json& columns = table.at("columns");
  for (const json& row : table.at("rows")) {
    auto& cells = read.rows.emplace_back();
    for (size_t i = 0; i < columns.size(); ++i) {
      const json& cell = row.at(i);
      std::string& text = cells[columns.at(i)];
      if (cell.is_structured()) {
        text = "...";  // no page has one, and writing it recurses as deep as it is nested
      } else {
        text = cell.is_string() ? cell.get<std::string>() : cell.dump();
      }
    }
  }
  return read;
}

StatusOr<std::vector<StatusTable>> TablesOf(const json& section, std::string_view title) {
  std::vector<StatusTable> tables;
  for (const json& table : section.at("tables")) {
    if (!title.empty() && table.at("title") != title) continue;
    NEPTUNE_ASSIGN_OR_RETURN(StatusTable read, TableOf(table));
    tables.push_back(std::move(read));
  }
  return tables;
}

}  // namespace

StatusOr<std::vector<StatusTable>> ParseStatusSection(std::string_view page,
                                                      std::string_view section,
                                                      std::string_view title) {
  const auto whole = neptune::ReadForeignJson(page, kPageLimits);
  if (!whole.ok()) return DataLoss("not a status page: ", neptune::ToStd(whole.status().message()));
  try {
    for (const json& one : whole->at("sections")) {
      if (one.at("name") == section) return TablesOf(one, title);
    }
  } catch (const json::exception& error) {
    return DataLoss("not a status page: ", error.what());
  }
  return DataLoss("the page has no section '", section, "'");
}

}  // namespace search::tools
