#include "tools/lab/threads/shared_machine.h"

#include <gtest/gtest.h>

namespace search::lab {
namespace {

double Throughput(const std::vector<MachineService>& services, size_t number = 0) {
  return (*RunSharedMachine(services, MachineOptions(), 1))[number];
}

TEST(SharedMachineTest, OneThreadTakesWhatItsRequestsTake) {
  EXPECT_NEAR(Throughput({{1, {{.processor_ms = 5, .elsewhere_ms = 15}}}}), 50, 3);
}

TEST(SharedMachineTest, TheProcessorIsTheMostThereIs) {
  EXPECT_NEAR(Throughput({{40, {{.processor_ms = 5, .elsewhere_ms = 15}}}}), 200, 5);
}

TEST(SharedMachineTest, PagesThatTheCacheHoldsNeedNoDisk) {
  const RequestKind few{.processor_ms = 1, .read_count = 4, .seldom_read_page_count = 800};
  RequestKind many = few;
  many.seldom_read_page_count = 1'000'000;
  EXPECT_NEAR(Throughput({{8, {few}}}), 1000, 30);
  // Four pages of 4 ms each, one after the other.
  EXPECT_NEAR(Throughput({{8, {many}}}), 62.5, 3);
}

TEST(SharedMachineTest, WhatOneServiceWritesAnotherReadsAgain) {
  const RequestKind reads{.processor_ms = 1, .read_count = 2, .seldom_read_page_count = 800};
  const RequestKind writes{.processor_ms = 1, .written_count = 50, .elsewhere_ms = 50};
  EXPECT_LT(Throughput({{8, {reads}}, {1, {writes}}}), 0.7 * Throughput({{8, {reads}}, {0, {}}}));
}

TEST(SharedMachineTest, SomebodyMustWork) {
  EXPECT_FALSE(RunSharedMachine({{0, {}}}, MachineOptions(), 1).ok());
}

}  // namespace
}  // namespace search::lab
