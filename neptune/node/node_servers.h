// The sockets at which a node is reached:
//
//   calls             each serving loop
//   control           the control loop: calls of control services, on connections of their own
//   polls and probes  the control loop
//
// Threads: user-level threads of the control loop; SendProbe on the control loop.
// Errors: those of opening sockets.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "neptune/balancing/load_polling.h"
#include "neptune/base/status.h"
#include "neptune/node/node_budgets.h"
#include "neptune/node/node_metrics.h"
#include "neptune/node/node_runtime.h"
#include "neptune/wire/local_calls.h"
#include "neptune/wire/server_connection.h"

namespace neptune {

class NodeServers {
 public:
  // `address`: this node's. All outlive this.
  NodeServers(NodeRuntime& runtime, uint32_t address) : runtime_(runtime), address_(address) {}

  // Accepts calls at `port` (0: any free one) on each serving loop. `make_handler` is called for
  // each loop; the handlers run there.
  Status StartCalls(uint16_t port, const NodeMetrics& counters, const NodeBudgets& budgets,
                    absl::FunctionRef<RequestHandler()> make_handler);
  // Accepts calls of control services at `port` (0: any free one) on the control loop.
  Status StartControl(uint16_t port, const NodeMetrics& counters, const NodeBudgets& budgets,
                      RequestHandler handler);
  // Calls that the loops of this node make to its own call endpoint go to `handler`, on serving
  // loops, without a connection. REQUIRES: StartCalls succeeded; each loop has its client.
  void ServeLocally(const NodeBudgets& budgets, LocalHandler handler);
  // Answers polls and probes.
  Status StartProbes(LoadIndexServer::Hooks hooks);
  // REQUIRES: StartProbes succeeded.
  void SendProbe(const Endpoint& to, std::string_view bytes) { probes_->SendProbe(to, bytes); }

  // Valid once started.
  const Endpoint& call_endpoint() const { return call_endpoint_; }
  const Endpoint& control_endpoint() const { return control_endpoint_; }
  Endpoint probe_endpoint() const { return probes_->local(); }

  // Asks every caller to drain its connections.
  void Drain();
  // Calls of others, and of this node's loops to its own services.
  size_t InFlightCount();
  size_t ConnectionCount();

 private:
  struct Server {
    NodeLoop* loop;
    std::unique_ptr<FrameServer> server;
  };

  // Listens on the loop; returns the endpoint.
  StatusOr<Endpoint> Start(NodeLoop& loop, const Endpoint& at, bool share_port,
                           FrameServerOptions options, RequestHandler handler);
  // Runs `work` for each server on its loop.
  void OnEach(absl::FunctionRef<void(FrameServer&)> work);

  NodeRuntime& runtime_;
  const uint32_t address_;
  Endpoint call_endpoint_;
  Endpoint control_endpoint_;
  std::vector<Server> servers_;
  LocalHandler local_handler_;
  std::vector<std::shared_ptr<LocalCalls>> local_calls_;  // of all loops
  std::unique_ptr<LoadIndexServer> probes_;
};

}  // namespace neptune
