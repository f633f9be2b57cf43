// A flood of requests at one simulated node, over connections and from a host of its own.
//
// Threads: the simulation's thread; its events run on the loop.
// Units: virtual time.
// Limits: kFloodConnectionCountMax connections.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/world/loop.h"
#include "neptune/world/network.h"

namespace search::lab {

inline constexpr int kFloodConnectionCountMax = 256;

struct SimFloodOptions {
  neptune::ServiceName service;
  neptune::PartitionId partition;
  neptune::MethodName method;
  std::string request;
  int connections = 16;
  // Unanswered requests of each connection. Larger: more load.
  int in_flight = 1;
  // Time between an answer and the next request, so that a simulation ends in time.
  neptune::Duration pause = std::chrono::milliseconds(5);
  bool is_replicated = false;
  // False: each connection sends its requests and reads nothing.
  bool reads = true;
};

class SimFlood {
 public:
  // Begins at once; a connection that is lost is made again after a tenth of a second. Nothing is
  // sent after the destruction.
  SimFlood(neptune::Loop& loop, const neptune::Endpoint& node, const SimFloodOptions& options);
  ~SimFlood();
  SimFlood(const SimFlood&) = delete;
  SimFlood& operator=(const SimFlood&) = delete;

  // Answers that have come, errors included; for a flood that does not read, requests sent.
  uint64_t count() const;

 private:
  struct Shared;
  class Connection;

  const std::shared_ptr<Shared> shared_;
  std::vector<std::shared_ptr<Connection>> connections_;
};

}  // namespace search::lab
