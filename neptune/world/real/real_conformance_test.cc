// Runs the World conformance suite on the real world.

#include <memory>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/world/real/real_world.h"
#include "neptune/world/world_conformance.h"

namespace neptune {
namespace {

INSTANTIATE_TEST_SUITE_P(Real, WorldConformanceTest,
                         testing::Values(WorldVariant{"real", [] {
                                                        return std::make_unique<ThreadedHarness>(
                                                            MakeRealWorld({}));
                                                      }}));

TEST(EmulatedProcessorsTest, WorkWaitsForAFreeProcessorInOrder) {
  const auto world = MakeRealWorld({.emulated_processor_count = 2});
  EXPECT_EQ(world->processors().count(), 2);
  const auto loop = world->StartLoop({.name = "test"});
  ASSERT_TRUE(loop.ok()) << loop.status();
  Notification all_done;
  std::vector<int> order;
  TimePoint begin;
  TimePoint end;
  (*loop)->Post([&] {
    begin = (*loop)->Now();
    const auto run = [&](int number, Duration cost) {
      world->processors().Execute(**loop, cost, [&, number] {
        order.push_back(number);
        if (order.size() < 3) return;
        end = (*loop)->Now();
        all_done.Notify();
      });
    };
    run(1, std::chrono::milliseconds(30));
    run(2, std::chrono::milliseconds(10));
    run(3, std::chrono::milliseconds(10));
  });
  all_done.WaitForNotification();
  world->Stop();
  EXPECT_EQ(order, (std::vector<int>{2, 3, 1}));
  EXPECT_GE(end - begin, std::chrono::milliseconds(30));
}

}  // namespace
}  // namespace neptune
