// What the console shows of the cluster at one moment.
//
// Threads: plain values.
// Every text comes from other nodes and is untrusted: renderers escape it.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::frontend {

// A part of a node's status as a table: its facts are rows of two cells, its tables as they are.
struct ConsoleTable {
  std::string section;  // "capsules"
  std::string title;    // empty for the facts
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
  // Of its status page, or why there is none.
  neptune::Status asked;
  std::vector<ConsoleTable> tables;
};

struct ClusterState {
  neptune::WallTime taken_at;
  std::vector<ConsoleNode> nodes;  // by name
};

// Tables of all nodes that are of one section and title and have the same columns, with the node before each row; in the
// order of their first occurrence.
std::vector<ConsoleTable> Together(const ClusterState& state);

// Partitions of a service that some node offers, with those nodes.
struct ServiceCover {
  std::string name;
  std::vector<std::string> implementations;  // ascending
  std::map<uint32_t, std::vector<std::string>> nodes_of_partition;
  size_t replicas_min() const;
};
std::vector<ServiceCover> CoverOf(const ClusterState& state);

// The tables of a node's status as JSON (neptune/admin, /statusz?format=json). Sections that the console does not show
// are left out. Errors: INVALID_ARGUMENT what is not such a document.
// Limits: kConsoleRowsMax rows a table.
inline constexpr size_t kConsoleRowsMax = 500;
neptune::StatusOr<std::vector<ConsoleTable>> TablesOfStatus(std::string_view json);

}  // namespace search::frontend
