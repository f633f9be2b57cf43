#include "tools/lab/aggregation/aggregation_real.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/testing/real_node.h"
#include "neptune/thread/user_thread.h"
#include "tools/process/own_group.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::Node;
using neptune::NodeId;
using neptune::Notification;
using neptune::RealNode;
using neptune::Status;
using neptune::StrCat;
using neptune::TimePoint;

constexpr Duration kStartLimit = std::chrono::seconds(20);
// Interval of the checks whether all partitions are announced.
constexpr Duration kLook = std::chrono::milliseconds(20);

class RealCluster {
 public:
  explicit RealCluster(const AggregationClusterOptions& options) : options_(options) {}

  Status Start(uint64_t seed) {
    neptune::ClusterSpec spec = AggregationSpec(options_, "239.192.7.3:1");
    SetOwnGroup(port_, &spec);
    for (const neptune::NodeSpec& node : spec.nodes()) {
      neptune::NodeOptions node_options;
      node_options.spec = spec;
      node_options.name = NodeId(node.name());
      node_options.with_admin = false;
      node_options.with_method_statistics = false;
      node_options.modules = MakeAggregationModule;
      const neptune::RealWorldOptions world = {
          .seed = seed * 1000 + nodes_.size() + 1,
          .emulated_processor_count = options_.processors.count};
      auto real = std::make_unique<RealNode>(std::move(node_options), world);
      NEPTUNE_RETURN_IF_ERROR(real->Start());
      nodes_[node.name()] = std::move(real);
    }
    for (int i = 0; i < options_.client_count; ++i) {
      NEPTUNE_RETURN_IF_ERROR(WaitForPartitions(client(i)));
    }
    return neptune::OkStatus();
  }

  RealNode& client(int number) { return *nodes_.at(StrCat("c", number)); }

 private:
  Status WaitForPartitions(RealNode& client) {
    Status status;
    client.Run([&] {
      const TimePoint limit = neptune::this_thread::Now() + kStartLimit;
      for (int p = 0; p < options_.server_count; ++p) {
        const neptune::PartitionId partition(static_cast<uint32_t>(p));
        while (client.node().View()->Replicas(neptune::ServiceName("micro"), partition).empty()) {
          if (neptune::this_thread::Now() >= limit) {
            status = neptune::Internal("partition ", p, " is not announced");
            return;
          }
          (void)neptune::this_thread::SleepFor(kLook);
        }
      }
    });
    return status;
  }

  const neptune::UniquePort port_;
  const AggregationClusterOptions options_;
  std::map<std::string, std::unique_ptr<RealNode>> nodes_;
};

// Offers the planned arrivals, each at its time, and collects the outcomes.
class RealLoad {
 public:
  RealLoad(RealCluster& cluster, const AggregationClusterOptions& options,
           const AggregationLoadOptions& load, uint64_t seed)
      : cluster_(cluster),
        load_(load),
        server_count_(options.server_count),
        seed_(seed),
        arrivals_(PlanArrivals(load, options.client_count, seed)) {}

  AggregationRunResult Run() {
    cluster_.client(0).Run([this] { OfferAll(); });
    if (!arrivals_.empty()) all_ended_.WaitForNotification();
    neptune::LeafLock lock(&mutex_);
    result_.measured_for = load_.duration;
    return std::move(result_);
  }

 private:
  void OfferAll() {
    const TimePoint began = neptune::this_thread::Now();
    for (size_t i = 0; i < arrivals_.size(); ++i) {
      const TimePoint at = began + arrivals_[i].at;
      (void)neptune::this_thread::SleepUntil(at);
      Node& node = cluster_.client(arrivals_[i].client).node();
      node.RunOnControl([this, i, at, &node] { Ended(AskAt(node, i, at)); });
    }
  }

  AggregationOutcome AskAt(Node& node, size_t number, TimePoint at) {
    AggregationOutcome outcome = MakeRequest(node, load_, server_count_, seed_, number, at);
    outcome.arrived = arrivals_[number].at;
    outcome.measured = outcome.arrived >= load_.warm_up;
    return outcome;
  }

  void Ended(const AggregationOutcome& outcome) {
    bool last = false;
    {
      neptune::LeafLock lock(&mutex_);
      result_.outcomes.push_back(outcome);
      last = result_.outcomes.size() == arrivals_.size();
    }
    if (last) all_ended_.Notify();
  }

  RealCluster& cluster_;
  const AggregationLoadOptions& load_;
  const int server_count_;
  const uint64_t seed_;
  const std::vector<AggregationArrival> arrivals_;
  neptune::LeafMutex mutex_;
  AggregationRunResult result_ ABSL_GUARDED_BY(mutex_);
  Notification all_ended_;
};

}  // namespace

neptune::StatusOr<AggregationRunResult> RunRealAggregations(
    const AggregationClusterOptions& options, const AggregationLoadOptions& load, uint64_t seed) {
  RealCluster cluster(options);
  NEPTUNE_RETURN_IF_ERROR(cluster.Start(seed));
  return RealLoad(cluster, options, load, seed).Run();
}

}  // namespace search::lab
