// A search service in the simulated world: a frontend, fakes of the services it calls, and users.
//
//   user ─HTTP─► web (frontend) ─► cache, tier1-0, tier1-1, tier2-0, tier2-1, docs-0, docs-1
//
// Threads: the simulation's.

#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "frontend/http/frontend_module.h"
#include "frontend/testing/http_user.h"
#include "neptune/node/node.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/wire/http/http_message.h"
#include "neptune/world/sim/simulator.h"

namespace search::frontend {

// Spec of such a cluster with one node per partition. `frontend_parameters` and the rest are
// appended as text in the format of a cluster spec.
neptune::ClusterSpec FakeClusterSpec(const std::string& frontend_parameters,
                                     const std::string& more = "");

struct TimedResponse {
  neptune::HttpResponse http;
  neptune::Duration took{};
};

class SimulatedSearch {
 public:
  explicit SimulatedSearch(uint64_t seed, const std::string& frontend_parameters = "",
                           const std::string& more = "");
  // Lets calls in progress end, so that no user-level thread remains.
  ~SimulatedSearch();

  neptune::Simulator& simulator() { return nodes_.simulator(); }
  neptune::Node& node(const std::string& name) { return nodes_.node(name); }
  void RunFor(neptune::Duration duration) { simulator().RunFor(duration); }

  // Sends a GET request; the returned object receives the answer.
  std::shared_ptr<TimedResponse> Begin(const std::string& target,
                                       const neptune::HttpHeaders& headers = {},
                                       const std::string& method = "GET");
  // Sends the pieces as they are, on a connection of their own, one a millisecond. The returned
  // text receives all bytes of the answer, until kRawUserCountMax further calls were made.
  static constexpr size_t kRawUserCountMax = 32;
  std::shared_ptr<std::string> BeginRaw(std::vector<std::string> pieces);
  // Sends a GET request and closes the connection after that time.
  void BeginAndLeave(const std::string& target, neptune::Duration after);
  // Processor time that the node has used.
  neptune::Duration ProcessorTime(const std::string& node) {
    return simulator().host(node).sim_processors().consumed();
  }
  // Runs the simulation until the answer arrives. Status 0: no answer within a minute.
  TimedResponse Get(const std::string& target, const neptune::HttpHeaders& headers = {},
                    const std::string& method = "GET");

  // How often nodes whose name begins with `node_prefix` have run the method with that outcome.
  double CallCount(const std::string& node_prefix, const std::string& service,
                   const std::string& method, const std::string& outcome = "ok");
  // Value of a metric of the frontend's node.
  double Metric(const std::string& name, const neptune::MetricLabels& labels);

 private:
  using User = std::shared_ptr<std::unique_ptr<HttpUser>>;
  class RawUser;
  // Sends the request from a user that lives until it has its answer or is reset.
  void Send(const std::string& target, const neptune::HttpHeaders& headers,
            const std::string& method, const User& user,
            const std::shared_ptr<TimedResponse>& response);

  const neptune::ClusterSpec spec_;
  neptune::SimulatedNodes nodes_;
  neptune::Loop* user_loop_ = nullptr;
  std::deque<std::shared_ptr<RawUser>> raw_users_;  // the latest
};

}  // namespace search::frontend
