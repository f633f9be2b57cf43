// A whole search of processes on loopback, which can be killed, restarted, suspended and resumed:
//
//   web-1, web-2        a frontend each
//   cache-1, cache-2    a replica of the whole query cache each
//   store-1             index and document partitions 0 and 1
//   store-2             2 and 3
//   store-3             1 and 2
//   store-4             3 and 0
//
// with the services of data/clusters/dev.textproto, except tier 2. Every partition of every service
// is on two nodes. If documents change, cache-1 is the witness of all partitions, and each store is
// the preferred primary of one partition of the index and of the document partition of the same
// number.
//
// A supervised search serves versions of the index (index/versions); it removes the version list of
// an earlier search over the same index.
//
// Threads: one caller at a time; its loads call from their loop.
// Errors: kUnavailable a node ended, or a frontend did not find every partition within
//   kMeetingTimeMax; kNotFound a program or module was not built.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/unique_port.h"
#include "neptune/world/network.h"
#include "tools/lab/search/node_status.h"
#include "tools/lab/workloads/synthetic_index.h"
#include "tools/process/linked_hosts.h"
#include "tools/process/peer_process.h"

namespace search::lab {

struct SearchProcessesOptions {
  // Service classes in cluster spec syntax.
  std::string service_classes;
  bool documents_change = false;
  // True: the cluster tool runs the processes, restarts them and executes commands. False: a node
  // that ended is not restarted.
  bool supervised = false;
  // The sampled share of the searches; and whether each node writes their spans into a file.
  // REQUIRES: not both span_logs and supervised.
  double sampled_share = 0.01;
  bool span_logs = false;
  // Each process and the client have a host of their own (linked_hosts.h); they find each other by
  // multicast through a switch. REQUIRES: not supervised. Errors then also: kUnavailable namespaces
  // are not permitted.
  bool on_hosts = false;
};

class SearchProcesses {
 public:
  // REQUIRES: the index outlives it.
  static neptune::StatusOr<std::unique_ptr<SearchProcesses>> Start(
      const SyntheticIndex& index, const SearchProcessesOptions& options);
  ~SearchProcesses();

  // The endpoints of the frontends, which serve /search and accept /documents.
  std::vector<neptune::Endpoint> http_endpoints() const;
  // The index partitions on that node.
  static std::vector<uint32_t> PartitionsOf(const std::string& node);

  // The administration endpoints of the nodes. REQUIRES: not supervised.
  neptune::StatusOr<std::vector<neptune::Endpoint>> admin_endpoints() const;
  // The total size of all span files.
  double SpanBytes() const;
  // A section of the node's status page. REQUIRES: the node runs, and is not supervised.
  neptune::StatusOr<std::vector<tools::StatusTable>> StatusOf(const std::string& node,
                                                              const std::string& section) const;

  // The total processor time of the running processes.
  double ProcessorSeconds() const;

  // REQUIRES: `node` is one of those above; the process runs, or, for StartAgain, was killed.
  void Signal(const std::string& node, int signal) const;
  neptune::Status StartAgain(const std::string& node);
  // Sets the link of the node's host. REQUIRES: on_hosts.
  neptune::Status SetLink(const std::string& node, bool is_up) const;

  // Runs `body` on a thread that can reach the frontends, and waits.
  void RunAsClient(const std::function<void()>& body) const;

  // Runs "tools/cluster/cluster" or "tools/publish/publish" on it, and waits. May be called on any
  // thread.
  // REQUIRES: supervised. Errors: kFailedPrecondition the command failed; the message has its
  //   output.
  neptune::Status Command(const std::string& tool, const std::vector<std::string>& arguments) const;

 private:
  SearchProcesses() = default;
  neptune::Status WriteSpec(const SearchProcessesOptions& options);
  neptune::Status FindModules();
  neptune::Status StartNode(const std::string& node);
  neptune::Status StartSupervisor();
  std::vector<std::string> ToolArguments() const;
  neptune::Status MakeHosts();
  // The HTTP address of frontend number `frontend`.
  std::string HttpAddress(size_t frontend) const;
  neptune::Status Meet() const;
  neptune::Status MeetAsClient() const;

  const neptune::UniquePort port_;  // of the multicast group
  std::string folder_;
  std::string spec_path_;
  std::string base_folder_;
  std::string module_folders_;
  bool span_logs_ = false;
  std::vector<uint16_t> http_ports_;
  std::unique_ptr<LinkedHosts> hosts_;  // null: all on loopback
  std::map<std::string, std::unique_ptr<PeerProcess>> processes_;
  std::unique_ptr<PeerProcess> supervisor_;
};

}  // namespace search::lab
