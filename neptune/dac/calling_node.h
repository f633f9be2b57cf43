// A simulated node that calls, for tests of the parts of its aggregations: a loop with its client,
// and a view of servers that do not exist, so that they refuse connections.
//
// Threads: the simulation's thread.

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/balancing/replica_policy.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/dac/aggregation_environment.h"
#include "neptune/membership/service_yellow_page.h"
#include "neptune/service/client.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/node_loops.h"
#include "neptune/service/operator_registry.h"
#include "neptune/service/span_log.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {

// What was chosen, and how often each choice was concluded.
struct Choices {
  std::vector<std::string> nodes;
  std::vector<int> concluded;

  void ExpectEachConcludedOnce() const {
    EXPECT_EQ(concluded, std::vector<int>(concluded.size(), 1));
  }
};

// Takes the first candidate.
class FirstPolicy final : public ReplicaPolicy {
 public:
  explicit FirstPolicy(Choices& choices) : choices_(choices) {}
  ReplicaChoice Choose(const ReplicaQuestion& question) override {
    const size_t chosen = question.candidates.front();
    choices_.nodes.push_back(question.replicas[chosen].node.value());
    choices_.concluded.push_back(0);
    return {.index = chosen, .record = choices_.concluded.size()};
  }
  void Answered(uint64_t record, uint32_t, Duration, const Status&) override {
    ++choices_.concluded[record - 1];
  }
  void Lost(uint64_t record, bool) override { ++choices_.concluded[record - 1]; }

 private:
  Choices& choices_;
};

class CallingNode {
 public:
  explicit CallingNode(const BalancingOptions& balancing = {.policy = BalancingPolicy::kRandom}) {
    OnLoop([&] {
      loop_.scheduler = std::make_unique<ThreadScheduler>(*loop_.loop);
      loop_.client = *LoopClient::Open(*loop_.loop,
                                       {.balancing = balancing, .poll_bind = {host_.address(), 0}});
    });
  }
  ~CallingNode() {
    OnLoop([this] {
      loop_.scheduler->Stop();
      loop_.client.reset();
    });
  }
  CallingNode(const CallingNode&) = delete;
  CallingNode& operator=(const CallingNode&) = delete;

  Simulator& simulator() { return simulator_; }
  NodeLoop& loop() { return loop_; }
  AggregationEnvironment& environment() { return environment_; }
  // A port of this host.
  Endpoint PortAt(uint16_t port) const { return {host_.address(), port}; }

  // Runs `body` as an event of the loop.
  void OnLoop(Task body) {
    loop_.loop->Post(std::move(body));
    simulator_.RunFor(Duration(1));
  }
  // Runs `body` on a user-level thread of the loop until it ends.
  void Run(Task body) {
    bool done = false;
    OnLoop([&] {
      ASSERT_TRUE(loop_.scheduler
                      ->Spawn([&] {
                        body();
                        done = true;
                      })
                      .ok());
    });
    EXPECT_TRUE(
        simulator_.RunUntilTrue([&] { return done; }, simulator_.now() + std::chrono::seconds(60)));
  }

  // The announcement of a server, with a port that is closed.
  Announcement Server(const std::string& name, const std::vector<uint32_t>& partitions) {
    Announcement announcement;
    announcement.node = NodeId(name);
    announcement.incarnation = 1;
    announcement.sequence = 1;
    announcement.call_endpoint = PortAt(next_port_++);
    announcement.probe_endpoint = PortAt(next_port_++);
    HostedService hosted;
    hosted.service = ServiceName("index");
    for (const uint32_t partition : partitions) hosted.partitions.emplace_back(partition);
    announcement.services = {hosted};
    return announcement;
  }
  // The node sees these servers from now on.
  void See(const std::vector<Announcement>& servers) {
    ServiceYellowPage page;
    for (const Announcement& server : servers) page.Receive(server, simulator_.now());
    OnLoop([&] { loop_.client->set_view(page.View()); });
  }

 private:
  Simulator simulator_{1};
  SimWorld& host_ = simulator_.AddHost({.name = "caller"});
  NodeLoops loops_{host_};
  NodeLoop& loop_ = loops_.Add("main", LoopRole::kServing, *host_.StartLoop({.name = "main"}));
  MetricsRegistry metrics_;
  OperatorRegistry operators_;
  SpanLog spans_;
  CapsuleStack capsules_;
  Client client_{loops_, operators_, metrics_, spans_, capsules_, [](const NodeId&) {}};
  CostMeter costs_;
  LoadGossip gossip_;
  AggregationCounters counters_ = *AggregationCounters::Make(metrics_);
  AggregationEnvironment environment_{
      NodeId("caller"), 1, loops_, client_, costs_, gossip_, counters_, {0, counters_.order_errors},
      nullptr};
  uint16_t next_port_ = 7000;
};

}  // namespace neptune
