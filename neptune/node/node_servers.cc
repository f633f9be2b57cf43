#include "neptune/node/node_servers.h"

#include <utility>

#include "neptune/service/loop_client.h"

namespace neptune {
namespace {

FrameServerOptions OptionsWith(const NodeMetrics& counters, const NodeBudgets& budgets) {
  FrameServerOptions options;
  options.memory = budgets.memory();
  options.broken_connections = counters.broken_connections;
  options.refused_connections = counters.refused_connections;
  return options;
}

}  // namespace

StatusOr<Endpoint> NodeServers::Start(NodeLoop& loop, const Endpoint& at, bool share_port,
                                      FrameServerOptions options, RequestHandler handler) {
  Status status;
  Endpoint local;
  NodeRuntime::RunOn(loop, [&] {
    options.network = &loop.network();
    auto server = std::make_unique<FrameServer>(*loop.loop, options, std::move(handler));
    status = server->Listen(at, share_port);
    if (status.ok()) local = server->local();
    servers_.push_back({&loop, std::move(server)});
  });
  if (!status.ok()) return status;
  return local;
}

Status NodeServers::StartCalls(uint16_t port, const NodeMetrics& counters,
                               const NodeBudgets& budgets,
                               absl::FunctionRef<RequestHandler()> make_handler) {
  const std::vector<NodeLoop*>& loops = runtime_.loops().serving();
  call_endpoint_ = {address_, port};
  for (NodeLoop* const loop : loops) {
    FrameServerOptions options = OptionsWith(counters, budgets);
    options.slots = budgets.slots();
    NEPTUNE_ASSIGN_OR_RETURN(
        call_endpoint_, Start(*loop, call_endpoint_, loops.size() > 1, options, make_handler()));
  }
  return OkStatus();
}

void NodeServers::ServeLocally(const NodeBudgets& budgets, LocalHandler handler) {
  local_handler_ = std::move(handler);
  NodeLoops& loops = runtime_.loops();
  std::vector<Loop*> serving;
  for (NodeLoop* const loop : loops.serving()) serving.push_back(loop->loop);
  runtime_.RunOnAll([&](NodeLoop& loop) {
    local_calls_.push_back(std::make_shared<LocalCalls>(
        *loop.loop, serving, local_handler_, LocalCallsOptions{.memory = budgets.memory()}));
    loop.client->ServeLocally(call_endpoint_, local_calls_.back(),
                              [&loops] { return loops.load_index(); });
  });
}

// Its connections take none of the places for connections, all of which users may take.
Status NodeServers::StartControl(uint16_t port, const NodeMetrics& counters,
                                 const NodeBudgets& budgets, RequestHandler handler) {
  NEPTUNE_ASSIGN_OR_RETURN(control_endpoint_,
                           Start(runtime_.control(), {address_, port}, false,
                                 OptionsWith(counters, budgets), std::move(handler)));
  return OkStatus();
}

Status NodeServers::StartProbes(LoadIndexServer::Hooks hooks) {
  NodeLoop& control = runtime_.control();
  NEPTUNE_ASSIGN_OR_RETURN(probes_, LoadIndexServer::Open(*control.loop, {address_, 0},
                                                          std::move(hooks), &control.network()));
  return OkStatus();
}

void NodeServers::OnEach(absl::FunctionRef<void(FrameServer&)> work) {
  for (const Server& one : servers_) {
    NodeRuntime::RunOn(*one.loop, [&] { work(*one.server); });
  }
}

void NodeServers::Drain() {
  OnEach([](FrameServer& server) { server.Drain(); });
}

size_t NodeServers::InFlightCount() {
  size_t count = 0;
  OnEach([&](FrameServer& server) { count += server.in_flight_count(); });
  for (const auto& calls : local_calls_) count += calls->in_flight_count();
  return count;
}

size_t NodeServers::ConnectionCount() {
  size_t count = 0;
  OnEach([&](FrameServer& server) { count += server.connection_count(); });
  return count;
}

}  // namespace neptune
