// The reference against closed forms.

#include "tools/lab/balancing/queue_reference.h"

#include <gtest/gtest.h>

#include <cmath>

namespace search::lab {
namespace {

using workload::Distribution;

QueueReferenceOptions OneServer(double load) {
  QueueReferenceOptions options;
  options.server_count = 1;
  options.poll_size = 0;
  options.call_delay = 0;
  options.gap = Distribution::Exponential(1 / load);
  options.queue_length_max = 1'000'000;
  options.warm_up_count = 10'000;
  options.count = 1'000'000;
  return options;
}

TEST(QueueReferenceTest, OneServerIsAnMM1Queue) {
  EXPECT_NEAR(SimulateQueues(OneServer(0.8), 1).mean, 1 / (1 - 0.8), 0.15);
}

TEST(QueueReferenceTest, RandomChoiceMakesIndependentMM1Queues) {
  QueueReferenceOptions options = OneServer(0.5);
  options.server_count = 16;
  options.gap = Distribution::Exponential(1 / (16 * 0.5));
  EXPECT_NEAR(SimulateQueues(options, 2).mean, 2, 0.03);
}

TEST(QueueReferenceTest, BoundedQueueLosesAsMM1KDoes) {
  QueueReferenceOptions options = OneServer(0.9);
  options.queue_length_max = 3;  // and one in service
  double norm = 0;
  for (int i = 0; i <= 4; ++i) norm += std::pow(0.9, i);
  EXPECT_NEAR(SimulateQueues(options, 3).loss, std::pow(0.9, 4) / norm, 0.002);
}

TEST(QueueReferenceTest, CallsTakeTheirDelayTwice) {
  QueueReferenceOptions options = OneServer(0.001);
  options.service = Distribution::Fixed(1);
  options.count = 1000;
  options.call_delay = 0.25;
  EXPECT_NEAR(SimulateQueues(options, 4).mean, 1.5, 0.01);
}

}  // namespace
}  // namespace search::lab
