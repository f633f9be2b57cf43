// A replicated service of registers on the nodes of a simulated cluster.
//
// Threads: the test's.

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/node/node_replicas.h"
#include "neptune/node/register_module.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/world/log_files.h"

namespace neptune {

inline const ServiceName kRegisters("registers");

// Nodes that each have the whole service; w is a witness where `fields` say so.
inline ClusterSpec RegisterSpec(const std::vector<std::string>& servers, const std::string& fields,
                                const std::string& cluster = "test",
                                const std::string& capsules = "") {
  std::string text =
      StrCat("name: '", cluster, "' multicast_group: '239.192.7.1:7400' ",
             "services { name: 'registers' module: 'registers' replication { ", fields,
             " } } services { name: 'idle' module: 'echo' } ",
             "nodes { name: 'c' hosts { service: 'idle' } } nodes { name: 'w' hosts { service: "
             "'idle' } } ",
             capsules, " ");
  for (const std::string& server : servers) {
    StrAppend(&text, "nodes { name: '", server, "' hosts { service: 'registers' } } ");
  }
  const StatusOr<ClusterSpec> spec = ParseClusterSpec(text, "test");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *spec;
}

inline StatusOr<std::unique_ptr<ServiceModule>> MakeModules(const std::string& module) {
  if (module == "registers") return std::make_unique<RegisterModule>();
  return MakeEcho(module);
}

inline constexpr char kOrdered[] = "level: 'ordered_writes'";
inline constexpr char kBounded[] = "level: 'staleness_bounded' staleness_ms: 500";

class ReplicatedRegistersTest : public testing::Test {
 protected:
  void Start(int count, const std::string& fields, uint64_t seed = 1,
             std::function<Duration(const std::string& node)> device_time = nullptr,
             const std::string& capsules = "") {
    SimulatedClusterOptions options;
    options.seed = seed;
    std::vector<std::string> servers;
    for (int i = 0; i < count; ++i) servers.push_back(StrCat("s", i));
    options.spec = RegisterSpec(servers, fields, "test", capsules);
    options.modules = MakeModules;
    options.device_time = std::move(device_time);
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
    simulator().RunFor(std::chrono::seconds(2));
  }
  Simulator& simulator() { return cluster_->simulator(); }

  // Calls from one session, in order.
  void InSession(std::function<void(ReplicaSession&)> body,
                 Duration limit = std::chrono::seconds(60)) {
    cluster_->RunOnClient(
        [&](ClientSession& session) {
          ReplicaSession replicas(session);
          body(replicas);
        },
        limit);
  }
  static StatusOr<std::string> Append(ReplicaSession& session, const std::string& what,
                                      Duration timeout = std::chrono::seconds(5),
                                      RequestId id = {}) {
    Data response;
    const Status status =
        session.Call({kRegisters, PartitionId(0), MethodName("Append"), AccessMode::kWrite},
                     Data(what), &response, {.deadline = this_thread::Now() + timeout, .id = id});
    if (!status.ok()) return status;
    return response.bytes();
  }
  static StatusOr<std::string> Get(ReplicaSession& session, const std::string& key,
                                   ReplicaReport* report = nullptr) {
    Data response;
    const CalledMethod get = {kRegisters, PartitionId(0), MethodName("Get")};
    const Status status = session.Call(get, Data(key), &response, {}, report);
    if (!status.ok()) return status;
    return response.bytes();
  }
  // What the node says of its primary; empty: it lives not, or knows none.
  std::string PrimaryBy(const std::string& node) {
    if (!cluster_->lives(node)) return "";
    const ReplicaKeeper& keeper = Keeper(node);
    const auto primary = keeper.status().primary;
    return primary ? keeper.NodeOf(*primary).value() : "";
  }
  ReplicaKeeper& Keeper(const std::string& node) {
    return *cluster_->node(node).replication().FindKeeper(kRegisters, PartitionId(0));
  }
  // Null while the replica is not open.
  std::shared_ptr<ReplicaAgent> Agent(const std::string& node) { return Keeper(node).agent(); }

  // Deletes the disk of a node that is down.
  void LoseDisk(const std::string& node) {
    DurableStorage& storage = simulator().host(node).storage();
    const auto stores = storage.List();
    for (const std::string& store : *stores) EXPECT_TRUE(storage.Destroy(store).ok());
    LogFiles& files = storage.log_files();
    const auto names = files.List();
    for (const std::string& name : *names) EXPECT_TRUE(files.Remove(name).ok());
  }
  // All of them stop, and the cluster's spec is another one when they start again.
  void ChangeSpec(const std::vector<std::string>& nodes, const ClusterSpec& spec) {
    for (const std::string& node : nodes) simulator().Crash(node);
    cluster_->ChangeSpec(spec);
  }
  // What an operator's request is answered.
  HttpResponse StartByHand(const std::string& node, const std::string& service,
                           const std::string& partition) {
    HttpResponse response;
    bool is_over = false;
    cluster_->SpawnOnClient([&](ClientSession&) {
      HttpRequest request;
      request.parameters = {{"service", service}, {"partition", partition}};
      response = StartReplica(request, cluster_->node(node).replication());
      is_over = true;
    });
    EXPECT_TRUE(simulator().RunUntilTrue([&] { return is_over; },
                                         simulator().now() + std::chrono::seconds(9)));
    return response;
  }

  std::unique_ptr<SimulatedCluster> cluster_;
};

}  // namespace neptune
