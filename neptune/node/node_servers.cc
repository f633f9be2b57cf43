#include "neptune/node/node_servers.h"

#include <utility>

namespace neptune {

Status NodeServers::StartCalls(uint16_t port, const NodeMetrics& counters,
                               const NodeBudgets& budgets,
                               absl::FunctionRef<RequestHandler()> make_handler) {
  const std::vector<NodeLoop*>& loops = runtime_.loops().serving();
  const bool share_port = loops.size() > 1;
  Endpoint at{address_, port};
  for (NodeLoop* const loop : loops) {
    Status status;
    NodeRuntime::RunOn(*loop, [&] {
      FrameServerOptions options;
      options.network = &loop->network();
      options.memory = budgets.memory();
      options.slots = budgets.slots();
      options.broken_connections = counters.broken_connections;
      options.refused_connections = counters.refused_connections;
      auto server = std::make_unique<FrameServer>(*loop->loop, options, make_handler());
      status = server->Listen(at, share_port);
      if (status.ok()) at = server->local();
      servers_.push_back(std::move(server));
    });
    NEPTUNE_RETURN_IF_ERROR(status);
  }
  call_endpoint_ = at;
  return OkStatus();
}

Status NodeServers::StartProbes(LoadIndexServer::Hooks hooks) {
  NodeLoop& control = runtime_.control();
  NEPTUNE_ASSIGN_OR_RETURN(probes_, LoadIndexServer::Open(*control.loop, {address_, 0},
                                                          std::move(hooks), &control.network()));
  return OkStatus();
}

void NodeServers::OnEach(absl::FunctionRef<void(FrameServer&)> work) {
  for (size_t i = 0; i < servers_.size(); ++i) {
    NodeRuntime::RunOn(*runtime_.loops().serving()[i], [&] { work(*servers_[i]); });
  }
}

void NodeServers::Drain() {
  OnEach([](FrameServer& server) { server.Drain(); });
}

size_t NodeServers::InFlightCount() {
  size_t count = 0;
  OnEach([&](FrameServer& server) { count += server.in_flight_count(); });
  return count;
}

size_t NodeServers::ConnectionCount() {
  size_t count = 0;
  OnEach([&](FrameServer& server) { count += server.connection_count(); });
  return count;
}

}  // namespace neptune
