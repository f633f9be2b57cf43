// Faults of nodes that are processes of this machine. README.md says how each kind is caused.
//
// Threads: thread-compatible.
// Errors: kUnavailable a process did not start, or a limit, a file or a link could not be set.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "neptune/world/faults/fault_target.h"
#include "neptune/world/network.h"
#include "neptune/world/random_source.h"
#include "tools/chaos/disk_faults.h"
#include "tools/chaos/flood.h"
#include "tools/chaos/log_pipe.h"
#include "tools/chaos/server_process.h"
#include "tools/process/linked_hosts.h"

namespace search::chaos {

// A node, and what its faults need. Whatever is not set makes kinds unsupported.
struct FaultyNode {
  ServerProcess* process = nullptr;
  // The number of its host, if nodes have hosts of their own.
  size_t host = 0;
  // Its process has them.
  DiskFaults* disk = nullptr;
  // Its process writes to it.
  LogPipe* log = nullptr;
  // The endpoint for calls; the node hosts the service of nemesis_module.h.
  std::optional<neptune::Endpoint> calls{};
  // A path that its process can see.
  std::string hang_file{};
  // Network namespace from which it can be called; -1: that of this process.
  int network = -1;
  // Whether its replicas are whole; unset: they are.
  std::function<bool()> is_whole{};
};

class ProcessFaults final : public neptune::FaultTarget {
 public:
  // `hosts`: null if all nodes are on loopback; then none can be isolated. The hosts and the
  // processes outlive the target. The seed decides which bits flip and what is lost.
  ProcessFaults(std::map<std::string, FaultyNode> nodes, const lab::LinkedHosts* hosts,
                uint64_t seed = 1)
      : nodes_(std::move(nodes)), hosts_(hosts), random_(seed) {}

  bool Supports(neptune::Fault::Kind kind) const override;
  // Whether a schedule can be applied in the order of its changes. kUnimplemented: it has a kind
  // that is not supported. kInvalidArgument: it names no node of the cluster, or begins a fault of
  // a node that has the same one, or a second one of those that are exclusive.
  neptune::Status Check(const neptune::FaultSchedule& schedule) const;
  // kInvalidArgument: no such node. kFailedPrecondition: its process does not live, or lives at the
  // end of a crash.
  neptune::Status Begin(const neptune::Fault& fault) override { return Set(fault, true); }
  neptune::Status End(const neptune::Fault& fault) override { return Set(fault, false); }

  // The bits of logs that decayed and are still there: no scrub has found them yet.
  std::vector<std::string> UnfoundDecays() const;
  // What the last fault did beside what its kind says: the bit that flipped, the bytes lost.
  const std::string& note() const { return note_; }

 private:
  neptune::Status Set(const neptune::Fault& fault, bool begins);
  neptune::Status SetProcess(const neptune::Fault& fault, const FaultyNode& node, bool begins);
  neptune::Status BeginOfProcess(neptune::Fault::Kind kind, const FaultyNode& node);
  neptune::Status EndOfProcess(const neptune::Fault& fault, const FaultyNode& node);
  static neptune::Status Restart(ServerProcess& process);
  static void SetPage(const neptune::Fault& fault, DiskFaults& disk, bool begins);
  neptune::Status SetCalls(const neptune::Fault& fault, const FaultyNode& node, bool begins);
  neptune::Status CrashInFlush(const FaultyNode& node);
  // True if this fault, which may damage what the node stores, is to do nothing.
  bool Skips(const neptune::Fault& fault, const FaultyNode& node, bool begins);
  neptune::Status FlipBitOf(const FaultyNode& node);
  neptune::Status DecayLogOf(const FaultyNode& node);
  static neptune::Status SetRoom(const neptune::Fault& fault, DiskFaults& disk, bool begins);
  bool HasDecay(const FaultyNode& node) const;
  bool OthersAreWhole(const FaultyNode& node) const;

  const std::map<std::string, FaultyNode> nodes_;
  const lab::LinkedHosts* const hosts_;
  neptune::RandomSource random_;
  // Keys are the node and the name of the kind.
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Flood>> floods_;
  std::string note_;
  struct Decay {
    const FaultyNode* node = nullptr;
    BitPlace place;
    char value = 0;  // with the changed bit
  };
  std::vector<Decay> decays_;
  std::set<std::string> skipping_;  // nodes whose read errors were skipped and have not ended
};

}  // namespace search::chaos
