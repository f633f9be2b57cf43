// Floods of requests at one node, from a process of their own, so that they take nothing from those
// who measure or check.
//
// Threads: thread-compatible.
// Units: microseconds; seconds of processor time.
// Errors: those of PeerProcess; kUnavailable its output is not the expected one.

#pragma once

#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "neptune/world/faults/fault.h"
#include "neptune/world/network.h"
#include "tools/process/peer_process.h"

namespace search::chaos {

struct FloodOptions {
  std::string service = "nemesis";
  int partition = 0;
  std::string method = "Echo";
  std::string request = "hello";
  int connections = 64;
  // Unanswered requests of each connection. Larger: more load.
  int in_flight = 1;
  // The service is replicated.
  bool is_replicated = false;
  // Connections send what is not a frame, and begin again when they are closed.
  bool is_garbage = false;
  // False: each connection sends its requests and reads nothing.
  bool reads = true;
  // Descriptor of the network namespace it runs in; -1: that of this process.
  int network = -1;
};

// What a fault of the kind sends: kFloodShort 64 connections of echoes, kFloodReads four of 1,000
// reads of a register each, kFloodLong 16 requests of 300 ms of processor time, kFloodHuge four
// answers of the largest size that are not read. REQUIRES: it is one of these.
FloodOptions FloodOf(neptune::Fault::Kind kind);

struct FloodTotals {
  double answers = 0;
  double errors = 0;
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
};

class Flood {
 public:
  static neptune::StatusOr<std::unique_ptr<Flood>> Start(const neptune::Endpoint& node,
                                                         const FloodOptions& options);
  // What happened since the last call.
  neptune::StatusOr<FloodTotals> Totals();
  double ProcessorSeconds() const { return process_->ProcessorSeconds(); }

 private:
  explicit Flood(std::unique_ptr<lab::PeerProcess> process) : process_(std::move(process)) {}

  const std::unique_ptr<lab::PeerProcess> process_;
};

}  // namespace search::chaos
