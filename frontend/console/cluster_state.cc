#include "frontend/console/cluster_state.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "neptune/base/foreign_json.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::InvalidArgument;
using neptune::StatusOr;
using nlohmann::json;

constexpr size_t kColumnsMax = 32;
constexpr size_t kCellSizeMax = 500;

// Limits of a status document, whose cells are seven levels deep.
constexpr neptune::JsonLimits kStatusLimits{
    .size_max = kStatusSizeMax, .depth_max = 8, .value_count_max = 250'000};

// Shown instead of an array or an object, which no node's cells are.
constexpr std::string_view kNoScalar = "...";

// Prefixes of the titles of the sections shown. The others (calls, spans, the yellow page) are long
// and are on the node's own status page.
constexpr std::array<std::string_view, 9> kShownSections = {
    "hosted services", "service classes", "capsules",     "replicas", "cache ",
    "index ",          "documents ",      "searches at ", "security"};

bool IsShown(std::string_view section) {
  return std::any_of(kShownSections.begin(), kShownSections.end(),
                     [&](std::string_view begin) { return section.starts_with(begin); });
}

// Text of a string, number or boolean. Of anything else nothing is shown: printing it takes a call
// for each of its levels.
std::string CellText(const json& cell) {
  std::string text;
  if (cell.is_structured()) {
    text = kNoScalar;
  } else if (cell.is_string()) {
    text = cell.get_ref<const std::string&>();
  } else if (cell.is_number_float()) {
    text = absl::StrFormat("%.6g", cell.get<double>());
  } else if (cell.is_boolean()) {
    text = cell.get<bool>() ? "yes" : "no";
  } else {
    text = cell.dump();
  }
  if (text.size() > kCellSizeMax) text.resize(kCellSizeMax);
  return text;
}

std::string TextOf(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const json& ArrayOf(const json& object, const char* name) {
  static const json kNone = json::array();
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : kNone;
}

void AddFacts(const std::string& section, const json& facts, std::vector<ConsoleTable>* tables) {
  if (!facts.is_object() || facts.empty()) return;
  ConsoleTable table{section, "", {"what", "value"}, {}};
  for (const auto& [what, value] : facts.items()) {
    if (table.rows.size() == kConsoleRowsMax) break;
    table.rows.push_back({what.substr(0, kCellSizeMax), CellText(value)});
  }
  tables->push_back(std::move(table));
}

void AddTable(const std::string& section, const json& shown, std::vector<ConsoleTable>* tables) {
  if (!shown.is_object()) return;
  ConsoleTable table{section, TextOf(shown, "title"), {}, {}};
  for (const json& column : ArrayOf(shown, "columns")) {
    if (table.columns.size() < kColumnsMax) table.columns.push_back(CellText(column));
  }
  for (const json& row : ArrayOf(shown, "rows")) {
    if (table.rows.size() == kConsoleRowsMax) break;
    if (!row.is_array()) continue;
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const json& cell : row) {
      if (cells.size() < table.columns.size()) cells.push_back(CellText(cell));
    }
    cells.resize(table.columns.size());
  }
  if (!table.columns.empty() && !table.rows.empty()) tables->push_back(std::move(table));
}

}  // namespace

StatusOr<std::vector<ConsoleTable>> TablesOfStatus(std::string_view text) {
  NEPTUNE_ASSIGN_OR_RETURN(const json document, neptune::ReadForeignJson(text, kStatusLimits));
  if (!document.is_object() || !document.contains("sections")) {
    return InvalidArgument("malformed status document");
  }
  std::vector<ConsoleTable> tables;
  for (const json& section : ArrayOf(document, "sections")) {
    if (!section.is_object()) continue;
    const std::string name = TextOf(section, "name");
    if (!IsShown(name)) continue;
    if (section.contains("facts")) AddFacts(name, section["facts"], &tables);
    for (const json& table : ArrayOf(section, "tables")) AddTable(name, table, &tables);
  }
  return tables;
}

std::vector<ConsoleTable> Together(const ClusterState& state) {
  std::vector<ConsoleTable> together;
  for (const ConsoleNode& node : state.nodes) {
    for (const ConsoleTable& table : node.tables) {
      std::vector<std::string> columns = {"node"};
      columns.insert(columns.end(), table.columns.begin(), table.columns.end());
      auto found = std::find_if(together.begin(), together.end(), [&](const ConsoleTable& one) {
        return one.section == table.section && one.title == table.title && one.columns == columns;
      });
      if (found == together.end()) {
        found = together.insert(together.end(), {table.section, table.title, columns, {}});
      }
      for (const std::vector<std::string>& row : table.rows) {
        std::vector<std::string>& cells = found->rows.emplace_back();
        cells.push_back(node.name);
        cells.insert(cells.end(), row.begin(), row.end());
      }
    }
  }
  return together;
}

size_t ServiceCover::replicas_min() const {
  size_t least = SIZE_MAX;
  for (const auto& [partition, nodes] : nodes_of_partition) least = std::min(least, nodes.size());
  return nodes_of_partition.empty() ? 0 : least;
}

std::vector<ServiceCover> CoverOf(const ClusterState& state) {
  std::map<std::string, ServiceCover> covers;
  std::map<std::string, std::set<std::string>> implementations;
  for (const ConsoleNode& node : state.nodes) {
    for (const ConsoleService& service : node.services) {
      ServiceCover& cover = covers[service.name];
      cover.name = service.name;
      if (!service.implementation.empty()) {
        implementations[service.name].insert(service.implementation);
      }
      for (const uint32_t partition : service.partitions) {
        cover.nodes_of_partition[partition].push_back(node.name);
      }
    }
  }
  std::vector<ServiceCover> list;
  for (auto& [name, cover] : covers) {
    cover.implementations.assign(implementations[name].begin(), implementations[name].end());
    list.push_back(std::move(cover));
  }
  return list;
}

}  // namespace search::frontend
