// A whole search cluster in the simulated world: the nodes of a spec of data/clusters with the real
// modules, one host each, and a user who sends HTTP requests to its frontends. For `dev`:
//
//   user ── HTTP ──► web-1, web-2 ── calls ──► store-1 ... store-4   (all hosts of one Simulator)
//                                                 └─ files below the index folder, really read
//
// Threads: one; a simulated cluster runs only inside its calls.
// Errors: a search fails with the error of the last frontend if no frontend answered.
// Units: virtual time.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontend/http/frontend_module.h"
#include "frontend/model/answer.h"
#include "neptune/base/status.h"
#include "neptune/node/node.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/wire/http/http_router.h"
#include "neptune/world/sim/simulator.h"
#include "tests/search_cluster/answer_oracle.h"
#include "tools/replay/http_fetcher.h"

namespace search::tests {

// Reads a spec of data/clusters and fills in its defaults. A class with API keys has the key
// "NAME-test-key" instead.
neptune::ClusterSpec SpecOf(const std::string& name);
// The one that ./tools/up starts.
inline neptune::ClusterSpec DevSpec() { return SpecOf("dev"); }

// What writers of documents send as their token.
inline constexpr char kDocumentToken[] = "token-of-simulated-writers";

// Writes the file with kDocumentToken to `folder`, and makes it that of the frontends, because
// simulated users are on other machines.
void SetDocumentToken(const std::string& folder, neptune::ClusterSpec* spec);

// The spec for documents that change (index/updates), in the folder of its index, which exists, and
// with that token.
neptune::ClusterSpec LiveSpec(const std::string& folder);

// Sets a parameter of a service of the spec.
void SetParameter(neptune::ClusterSpec* spec, const std::string& service, const std::string& name,
                  const std::string& value);

struct Question {
  std::string query;
  uint32_t start = 0;
  uint32_t count = 10;
  bool may_use_cache = false;
  // False: the results are those of the query as it is typed, which the oracle knows.
  bool may_correct = false;
  // False: what the query demands is demanded even if nothing has it.
  bool may_relax = false;
};

class SearchCluster {
 public:
  using OnAnswer = std::function<void(neptune::StatusOr<frontend::SearchAnswer>)>;

  // Duration of a disk read of a node in the folder of `path`; null: reads take no time.
  using DiskTime = std::function<neptune::Duration(const std::string& node, std::string_view path)>;

  // Boots every node over the index in `folder` and lets it run for two announcements.
  SearchCluster(uint64_t seed, const neptune::ClusterSpec& spec, const std::string& folder,
                DiskTime disk_time = {});
  ~SearchCluster();

  neptune::Simulator& simulator() { return nodes_.simulator(); }
  std::vector<std::string> node_names() const;

  // Sends a request to the frontend of node `web` and runs until it is answered. A change of
  // documents has kDocumentToken unless it has an Authorization of its own.
  neptune::StatusOr<neptune::HttpResponse> Send(const std::string& web,
                                                const tools::HttpExchange& wanted);
  // Sends a GET request.
  neptune::StatusOr<neptune::HttpResponse> Get(const std::string& web, const std::string& target,
                                               const neptune::HttpHeaders& headers = {});

  // Asks the frontends in turn until one answers, like a user with a bookmark of each; the next
  // question begins with the other frontend.
  neptune::StatusOr<frontend::SearchAnswer> Search(const Question& question);
  void StartSearch(const Question& question, OnAnswer on_answer);

  // Each function applies a fault or recovery to the simulation and to the ledger.
  void Kill(const std::string& node);
  void Restart(const std::string& node);
  void Pause(const std::string& node);
  void Resume(const std::string& node);
  // Access to a running node.
  neptune::Node& NodeNamed(const std::string& node) const { return nodes_.node(node); }
  std::vector<neptune::HttpRoute> RoutesOf(const std::string& web) const;
  // The capsules of a running node.
  neptune::CapsuleStack& Capsules(const std::string& node) const;
  // Partitions without a replica on a node that runs.
  MissingSet Dead() const;

 private:
  struct Attempt;
  void AddHost(neptune::NodeSpec* node);
  neptune::NodeOptions OptionsOf(const std::string& name);
  void Ask(std::shared_ptr<Attempt> attempt);

  neptune::ClusterSpec spec_;
  const std::string folder_;
  const DiskTime disk_time_;
  std::map<std::string, std::string> boot_errors_;
  std::set<std::string> down_;
  std::map<std::string, neptune::Endpoint> frontends_;              // by node
  std::map<std::string, const frontend::FrontendModule*> modules_;  // of nodes that run, by node
  size_t next_frontend_ = 0;
  neptune::SimulatedNodes nodes_;
  std::unique_ptr<tools::HttpFetcher> user_;
  neptune::Loop* user_loop_ = nullptr;
};

}  // namespace search::tests
