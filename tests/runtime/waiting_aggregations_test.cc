// Ten thousand aggregations wait for a child in the real world, on the kernel threads that the
// nodes have anyway.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/dac/dac.h"
#include "neptune/testing/real_node.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// ThreadSanitizer runs out of mappings with more user-level threads.
#ifdef __SANITIZE_THREAD__
constexpr int kCount = 1'000;
#else
constexpr int kCount = 10'000;
#endif

// Adds up partition numbers; partition 1 answers only once the gate is open.
class GatedSum final : public ServiceModule {
 public:
  explicit GatedSum(const std::atomic<bool>* open) : open_(*open) {}

  Status Start(ModuleContext& context) override {
    context.registrar.Method(
        MethodName("Sum"), {.grain = Grain::kLong},
        [this](RequestContext& request, const Data&, Data* response) {
          while (request.partition() == PartitionId(1) && !open_) {
            NEPTUNE_RETURN_IF_ERROR(request.SleepUntil(request.Now() + milliseconds(5)));
          }
          *response = Data(StrCat(request.partition()));
          return OkStatus();
        });
    context.registrar.Reduce(
        MethodName("Add"), [](const Data& first, const Data& second, const Data&, Data* result) {
          *result = Data(StrCat(std::stoi(first.bytes()) + std::stoi(second.bytes())));
          return OkStatus();
        });
    return OkStatus();
  }
  std::string implementation() const override { return "gated"; }

 private:
  const std::atomic<bool>& open_;
};

size_t KernelThreadCount() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(WaitingAggregationsTest, HoldNoKernelThreadAndNoSlot) {
  ClusterSpec spec = EchoSpec(2, 2, "queue_length_max: 20000 concurrency: 2");
  const UniquePort port;
  spec.set_name(StrCat("waiting-", port.number()));
  spec.set_multicast_group(StrCat("239.192.7.3:", port.number()));
  std::atomic<bool> open = false;
  std::map<std::string, std::unique_ptr<RealNode>> nodes;
  for (const NodeSpec& node : spec.nodes()) {
    ClusterSpec own = spec;
    // The node whose requests wait at the gate has a slot for each, so that it does not look hung.
    if (node.name() == "s1") own.mutable_services(0)->set_concurrency(kCount);
    NodeOptions options;
    options.spec = own;
    options.name = NodeId(node.name());
    options.modules = [&open](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
      return std::make_unique<GatedSum>(&open);
    };
    nodes[node.name()] = StartRealNode(std::move(options));
  }
  Node& client = nodes.at("c")->node();
  const size_t thread_count = KernelThreadCount();
  std::atomic<int> begun = 0;
  std::atomic<int> complete = 0;
  Notification all_begun;
  Notification all_ended;
  std::atomic<int> ended = 0;
  client.RunOnControl([&] {
    const auto known = [&](uint32_t partition) {
      return !client.client().View()->Replicas(ServiceName("echo"), PartitionId(partition)).empty();
    };
    while (!known(0) || !known(1)) this_thread::SleepFor(milliseconds(5));
    for (int i = 0; i < kCount; ++i) {
      const auto started = ThreadScheduler::Current()->Spawn([&] {
        ClientSession session(client.client());
        AggregationRequest request;
        request.service = ServiceName("echo");
        request.partitions = {PartitionId(0), PartitionId(1)};
        request.local = MethodName("Sum");
        request.reduce = MethodName("Add");
        request.deadline = this_thread::Now() + seconds(240);
        Data result;
        AggregationReport report;
        if (++begun == kCount) all_begun.Notify();
        const Status status = Aggregate(session, request, &result, &report);
        if (status.ok() && result.bytes() == "1" && report.quality() == 1) ++complete;
        if (++ended == kCount) all_ended.Notify();
      });
      ASSERT_TRUE(started.ok()) << started.status();
    }
  });
  all_begun.WaitForNotification();
  // A server that waits with its aggregations still runs other requests at once.
  Notification answered;
  client.RunOnControl([&] {
    ClientSession session(client.client());
    Data response;
    const Status status =
        Call(session, {ServiceName("echo"), PartitionId(0), MethodName("Sum"), AccessMode::kRead},
             Data(), &response, {.deadline = this_thread::Now() + seconds(200)});
    EXPECT_TRUE(status.ok()) << status;
    answered.Notify();
  });
  answered.WaitForNotification();
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(KernelThreadCount(), thread_count);
  open = true;
  all_ended.WaitForNotification();
  EXPECT_EQ(complete, kCount);
}

}  // namespace
}  // namespace neptune
