// A whole search on loopback, of processes that can be killed, started again, suspended and let go on:
//
//   web-1  web-2        a frontend each                store-1  index and documents 0 1     store-3  1 2
//   cache-1  cache-2    the query cache, whole, each   store-2                      2 3     store-4  3 0
//
// with the services of data/clusters/dev.textproto, but for tier 2. Every partition of every service is on two nodes. Where
// documents change, cache-1 is the witness of all partitions, and every store the preferred primary of one partition of the
// index and of the documents' one of the same number.
//
// Threads: one caller at a time; its loads call from their loop.
// Errors: kUnavailable a node ended, or some frontend does not find every partition within kMeetingTimeMax; kNotFound a
//   program or module was not built.
// A supervised one serves versions of the index (index/versions); the list of an earlier one over the same index is removed.

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
  // In the cluster spec's words.
  std::string service_classes;
  bool documents_change = false;
  // They are the cluster tool's, which starts again what ends and takes commands. Else a node that ended stays so.
  bool supervised = false;
  // Share of the searches whose spans are kept; and whether each node writes these into a file.
  // REQUIRES: no files where they are supervised.
  double sampled_share = 0.01;
  bool span_logs = false;
  // Each is on a host of its own (linked_hosts.h), and so is who asks; they hear each other by multicast through a switch.
  // Not with `supervised`. Errors then also: kUnavailable namespaces are not permitted.
  bool on_hosts = false;
};

class SearchProcesses {
 public:
  // REQUIRES: the index outlives it.
  static neptune::StatusOr<std::unique_ptr<SearchProcesses>> Start(
      const SyntheticIndex& index, const SearchProcessesOptions& options);
  ~SearchProcesses();

  // Where the frontends answer /search and take /documents.
  std::vector<neptune::Endpoint> http_endpoints() const;
  // Of the index, on that node.
  static std::vector<uint32_t> PartitionsOf(const std::string& node);

  // Of the nodes' administration. REQUIRES: they are not supervised.
  neptune::StatusOr<std::vector<neptune::Endpoint>> admin_endpoints() const;
  // Of all files of spans.
  double SpanBytes() const;
  // What a section of the node's status page says. REQUIRES: it runs, and is not supervised.
  neptune::StatusOr<std::vector<NodeStatusTable>> StatusOf(const std::string& node,
                                                           const std::string& section) const;

  // Of those that run, together.
  double ProcessorSeconds() const;

  // REQUIRES: `node` is one of those above; the process runs, or for StartAgain was killed.
  void Signal(const std::string& node, int signal) const;
  neptune::Status StartAgain(const std::string& node);
  // Its host's link. REQUIRES: they are on hosts.
  neptune::Status SetLink(const std::string& node, bool is_up) const;

  // Runs it where the frontends can be reached from, and waits.
  void RunAsClient(const std::function<void()>& body) const;

  // Runs "tools/cluster/cluster" or "tools/publish/publish" on it, to its end. REQUIRES: it is supervised.
  // Errors: kFailedPrecondition the command failed, with what it said. Any thread.
  neptune::Status Command(const std::string& tool, const std::vector<std::string>& arguments) const;

 private:
  SearchProcesses() = default;
  neptune::Status WriteSpec(const SearchProcessesOptions& options);
  neptune::Status FindModules();
  neptune::Status StartNode(const std::string& node);
  neptune::Status StartSupervisor();
  std::vector<std::string> ToolArguments() const;
  neptune::Status MakeHosts();
  // Of the frontend of that index.
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
