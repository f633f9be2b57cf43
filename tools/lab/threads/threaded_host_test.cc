#include "tools/lab/threads/threaded_host.h"

#include <gtest/gtest.h>

#include "neptune/mtrr/response_model.h"

namespace search::lab {
namespace {

TEST(ThreadedHostTest, BehavesAsTheChainSays) {
  const neptune::Speedup speedup = *neptune::Speedup::Make(0.3, 4);
  const ThreadedRun run{
      .classes = {{.thread_count = 6, .queue_length_max = 20, .arrival_rate = 80}},
      .speedup = speedup,
      .length_s = 2000};
  const ThreadedOutcome outcome = RunThreadedHost(run, 1)->front();
  const neptune::ResponseModel model = *neptune::PredictResponse({80, 50, speedup, 6, 20});
  EXPECT_NEAR(outcome.response_s_mean / model.response_s, 1, 0.05);
  EXPECT_NEAR(outcome.throughput / model.throughput, 1, 0.02);
  EXPECT_NEAR(outcome.loss_share, model.loss_share, 0.005);
}

TEST(ThreadedHostTest, ThreadsThatNeverRestTakeTheirTurns) {
  const ThreadedRun run{
      .classes = {{.thread_count = 3}, {.thread_count = 1}}, .speedup = {}, .length_s = 1000};
  const auto outcomes = *RunThreadedHost(run, 1);
  EXPECT_NEAR(outcomes[0].throughput, 37.5, 1.5);
  EXPECT_NEAR(outcomes[1].throughput, 12.5, 1.0);
}

TEST(ThreadedHostTest, AFullQueueRefuses) {
  const ThreadedRun run{
      .classes = {{.thread_count = 1, .queue_length_max = 4, .arrival_rate = 500}},
      .speedup = {},
      .length_s = 200};
  const ThreadedOutcome outcome = RunThreadedHost(run, 1)->front();
  EXPECT_NEAR(outcome.loss_share, 0.9, 0.01);
  EXPECT_NEAR(outcome.response_s_mean, 5 * 0.02, 0.005);
}

TEST(ThreadedHostTest, RefusesWhatIsNoHost) {
  EXPECT_FALSE(RunThreadedHost({.classes = {}, .speedup = {}}, 1).ok());
  EXPECT_FALSE(RunThreadedHost({.classes = {{.thread_count = 0}}, .speedup = {}}, 1).ok());
  EXPECT_FALSE(
      RunThreadedHost({.classes = {{.thread_count = 1}}, .speedup = {}, .length_s = 0}, 1).ok());
}

}  // namespace
}  // namespace search::lab
