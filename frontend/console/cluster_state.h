// A snapshot of the cluster's state for the console.
//
// Threads: plain values.
// All text comes from other nodes and is untrusted; renderers escape it.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::frontend {

// A table of a node's status. The facts of a section become one table with rows of two cells.
struct ConsoleTable {
  std::string section;  // "capsules"
  std::string title;    // empty for the table of facts
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  friend bool operator==(const ConsoleTable&, const ConsoleTable&) = default;
};

struct ConsoleService {
  std::string name;
  std::vector<uint32_t> partitions;
  std::string implementation;
};

struct ConsoleNode {
  std::string name;
  std::string call_endpoint;
  bool draining = false;
  uint32_t load_index = 0;     // active and queued requests, as announced
  double processor_share = 0;  // of one processor, as announced
  std::vector<ConsoleService> services;
  // OK, or the reason why its status page is missing.
  neptune::Status asked;
  std::vector<ConsoleTable> tables;
};

struct ClusterState {
  neptune::WallTime taken_at;
  std::vector<ConsoleNode> nodes;  // by name
};

// Merges the tables of all nodes that have the same section, title and columns. Each row is
// prefixed with the node's name; tables are in the order of their first occurrence.
std::vector<ConsoleTable> Together(const ClusterState& state);

// The partitions of a service and the nodes that offer each of them.
struct ServiceCover {
  std::string name;
  std::vector<std::string> implementations;  // ascending
  std::map<uint32_t, std::vector<std::string>> nodes_of_partition;
  size_t replicas_min() const;
};
std::vector<ServiceCover> CoverOf(const ClusterState& state);

// Parses the tables of a node's status in JSON (neptune/admin, /statusz?format=json). Sections that
// the console does not show are left out; a cell that is neither text nor number nor boolean is
// "...". Errors: INVALID_ARGUMENT malformed document, or one over a limit.
// Limits: kStatusSizeMax bytes, 8 levels, 250,000 values; kConsoleRowsMax rows a table.
inline constexpr size_t kStatusSizeMax = size_t{2} << 20;
inline constexpr size_t kConsoleRowsMax = 500;
neptune::StatusOr<std::vector<ConsoleTable>> TablesOfStatus(std::string_view json);

}  // namespace search::frontend
