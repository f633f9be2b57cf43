#include "tools/lab/threads/threaded_node.h"

#include <gtest/gtest.h>

#include "neptune/mtrr/response_model.h"

namespace search::lab {
namespace {

TEST(ThreadedNodeTest, AClassBesideAnOverloadedOneBehavesAsTheChainSays) {
  const neptune::Speedup speedup = *neptune::Speedup::Make(0.14, 23);
  const ThreadedRun run{.classes = {{.thread_count = 14, .arrival_rate = 100}, {.thread_count = 8}},
                        .speedup = speedup,
                        .length_s = 300};
  const auto outcomes = *RunThreadedNode(run, 1);
  const neptune::ResponseModel model = *neptune::PredictResponse({100, 50, speedup, 14, 128, 8});
  EXPECT_NEAR(outcomes[0].response_s_mean / model.response_s, 1, 0.06);
  EXPECT_NEAR(outcomes[0].throughput, 100, 2);
  EXPECT_EQ(outcomes[0].loss_share, 0);
  EXPECT_GT(outcomes[1].throughput, 50);
}

TEST(ThreadedNodeTest, AFullQueueRefusesItsClassAlone) {
  const ThreadedRun run{
      .classes = {{.thread_count = 1, .queue_length_max = 4, .arrival_rate = 500},
                  {.thread_count = 1, .queue_length_max = 50, .arrival_rate = 10}},
      .speedup = {},
      .length_s = 60};
  const auto outcomes = *RunThreadedNode(run, 1);
  EXPECT_GT(outcomes[0].loss_share, 0.85);
  EXPECT_EQ(outcomes[1].loss_share, 0);
}

}  // namespace
}  // namespace search::lab
