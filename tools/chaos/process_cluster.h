// A cluster of node processes that keep replicated registers, with everything that gives them
// faults, and a client node in this process.
//
//   client, here ── calls ──► s0, s1, ...   neptuned: "registers", replicated; "nemesis"; "probe"
//                               │   └ log ──► LogPipe ──► FOLDER/s0.log
//                               └ files below FOLDER/data/s0 ── DiskFaults
//
// Threads: made, used and destroyed on one plain kernel thread.
// Units: sizes in bytes.
// Errors: kNotFound a program was not built; kUnavailable a node ended, or cannot be read;
//   kInvalidArgument the options do not make a cluster.
// Limits: kProcessClusterNodeCountMax nodes.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/unique_port.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/testing/real_node.h"
#include "neptune/world/network.h"
#include "tools/chaos/disk_faults.h"
#include "tools/chaos/log_pipe.h"
#include "tools/chaos/process_faults.h"
#include "tools/chaos/server_process.h"
#include "tools/history/register_history.h"
#include "tools/process/linked_hosts.h"

namespace search::chaos {

inline constexpr int kProcessClusterNodeCountMax = 16;
// A service of every node that no fault calls: neptune/node/echo_module.h.
inline constexpr char kProbeService[] = "probe";

struct ProcessClusterOptions {
  int node_count = 3;
  uint32_t partition_count = 1;
  // Fields of ReplicationSpec, in text format.
  std::string replication = "level: 'staleness_bounded'";
  // Fields of NodeSpec for each node.
  std::string node_fields;
  // The program of the nodes. Empty: the neptuned of this build.
  std::string program;
  // Each node has a host of its own, if namespaces are permitted.
  bool on_hosts = false;
  // The nodes' files can have faults. False: the processes run without the library.
  bool with_disk_faults = true;
  // The nodes host the service that floods call. False: the program of another revision can run.
  bool with_nemesis = true;
  // Nodes log into pipes that can be blocked.
  bool with_log_pipes = false;
  // Folders stay after the end.
  bool keep = false;
};

// The replicas of one node, from its metrics.
struct ReplicaFigures {
  size_t count = 0;
  size_t failed_count = 0;
  size_t primary_count = 0;
  size_t serving_count = 0;  // primaries, secondaries and peers
  double epoch_sum = 0;
  double received_lsn_sum = 0;
  double executed_lsn_sum = 0;
  double log_size_sum = 0;
  double snapshots_sent = 0;
};
// Reads them from a page of metrics.
ReplicaFigures ReplicaFiguresOf(const std::string& metrics);

class ProcessCluster {
 public:
  // Starts the nodes and the client. It does not wait for writes.
  static neptune::StatusOr<std::unique_ptr<ProcessCluster>> Start(
      const ProcessClusterOptions& options);
  // The same, and waits until every partition accepts writes.
  static neptune::StatusOr<std::unique_ptr<ProcessCluster>> StartReady(
      const ProcessClusterOptions& options, neptune::Duration time_max);
  ~ProcessCluster();

  int node_count() const { return static_cast<int>(nodes_.size()); }
  static std::string NameOf(int node);
  const std::string& folder() const { return folder_; }
  ServerProcess& process(int node) { return *nodes_.at(static_cast<size_t>(node)).process; }
  // REQUIRES: with_disk_faults.
  DiskFaults& disk(int node) { return *nodes_.at(static_cast<size_t>(node)).disk; }
  neptune::Endpoint calls(int node) const;
  std::string DataFolderOf(int node) const { return folder_ + "/data/" + NameOf(node); }
  std::string LogOf(int node) const { return folder_ + "/" + NameOf(node) + ".log"; }
  neptune::RealNode& client() { return *client_; }
  // Null: all on loopback.
  const lab::LinkedHosts* hosts() const { return hosts_.get(); }

  // A target for the faults of these nodes. REQUIRES: the cluster outlives it.
  std::unique_ptr<ProcessFaults> MakeFaults(uint64_t seed);

  // Processor time of all running nodes.
  double ProcessorSeconds() const;
  // Fails if the node's administration port does not answer.
  neptune::StatusOr<std::string> Get(int node, const std::string& path) const;
  neptune::StatusOr<ReplicaFigures> Replicas(int node) const;
  // All replicas of the node serve, and have executed about as much as those of any other.
  bool IsWhole(int node) const;
  // The node with the most primaries; -1: there is none.
  int Primary() const;

  // Writes a register of each partition until all have answered, or fails at the deadline.
  neptune::Status AwaitWrites(neptune::Duration time_max);
  // The current contents of registers, read from their primaries.
  neptune::Status ReadContents(const std::set<std::pair<uint32_t, std::string>>& registers,
                               history::RegisterContents* contents);

  // Waits on a user-level thread of the client.
  void Sleep(neptune::Duration time);
  neptune::TimePoint Now();
  // Waits until it is true; returns false after `time_max`.
  bool Await(neptune::Duration time_max, const std::function<bool()>& is_true);

 private:
  struct ClusterNode {
    std::unique_ptr<DiskFaults> disk;
    std::unique_ptr<LogPipe> log;
    std::unique_ptr<ServerProcess> process;  // ends before what it uses
    uint16_t call_port = 0;
    uint16_t admin_port = 0;
  };

  explicit ProcessCluster(ProcessClusterOptions options) : options_(std::move(options)) {}
  neptune::Status StartAll();
  void MakeHosts();
  neptune::StatusOr<std::string> SpecText() const;
  neptune::StatusOr<std::string> NemesisText() const;
  neptune::Status StartNode(int node, const std::string& spec, const std::string& program);
  neptune::Status StartClient(const std::string& spec);
  uint32_t AddressOf(int host) const;

  const ProcessClusterOptions options_;
  const neptune::UniquePort port_;
  std::string folder_;
  std::unique_ptr<lab::LinkedHosts> hosts_;
  std::vector<ClusterNode> nodes_;
  std::unique_ptr<neptune::RealNode> client_;
};

}  // namespace search::chaos
