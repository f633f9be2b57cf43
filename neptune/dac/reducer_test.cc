// Errors and exceptions of reduce operators, and operators that depend on the order.

#include "neptune/dac/reducer.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

class ReducerTest : public testing::Test {
 protected:
  Reducer With(ReduceOperator reduce) {
    task_.service = ServiceName("index");
    task_.plan.reduce = MethodName("Merge");
    task_.plan.reduce_parameters = "+";
    task_.reduce.function = std::move(reduce);
    check_.errors = *metrics_.AddCounter("order_errors_total", "Errors.");
    return Reducer(task_, costs_, check_);
  }

  static Status Concatenate(const Data& first, const Data& second, const Data& parameters,
                            Data* result) {
    *result = Data(StrCat(first.bytes(), parameters.bytes(), second.bytes()));
    return OkStatus();
  }

  MetricsRegistry metrics_;
  NodeTask task_;
  CostMeter costs_;
  OrderCheck check_;
};

TEST_F(ReducerTest, OperatorGetsBothResultsAndTheParameters) {
  const Reducer reducer = With(Concatenate);
  const StatusOr<Data> combined = reducer.Combine(Data("a"), Data("b"));
  ASSERT_TRUE(combined.ok()) << combined.status();
  EXPECT_EQ(combined->bytes(), "a+b");
}

TEST_F(ReducerTest, ErrorOfTheOperatorIsReturned) {
  const Reducer reducer =
      With([](const Data&, const Data&, const Data&, Data*) { return DataLoss("damaged"); });
  EXPECT_EQ(reducer.Combine(Data("a"), Data("b")).status(), DataLoss("damaged"));
}

TEST_F(ReducerTest, ExceptionIsAnErrorThatNamesTheOperator) {
  const Reducer reducer = With([](const Data&, const Data&, const Data&, Data*) -> Status {
    throw std::runtime_error("bad luck");
  });
  const Status status = reducer.Combine(Data("a"), Data("b")).status();
  EXPECT_EQ(status, Internal("operator Merge threw: bad luck"));
}

TEST_F(ReducerTest, OperatorThatDependsOnTheOrderIsCounted) {
  Reducer reducer = With(Concatenate);
  EXPECT_TRUE(reducer.CheckOrder(Data("a"), Data("a"), Data("a+a")).ok());
  EXPECT_EQ(check_.errors->value(), 0u);
  EXPECT_EQ(reducer.CheckOrder(Data("a"), Data("b"), Data("a+b")).code(), StatusCode::kInternal);
  EXPECT_EQ(check_.errors->value(), 1u);
}

TEST_F(ReducerTest, RunChecksTheOrderOfItsSample) {
  Simulator simulator(1);
  Loop& loop = **simulator.AddHost({.name = "node"}).StartLoop({.name = "main"});
  Reducer reducer = With(Concatenate);
  check_.one_in = 1;
  std::vector<StatusOr<Data>> results;
  loop.Post([&] {
    results.push_back(reducer.Run(Data("a"), Data("a")).combined);
    results.push_back(reducer.Run(Data("a"), Data("b")).combined);
  });
  simulator.RunFor(Duration(1));
  ASSERT_EQ(results.size(), 2u);
  ASSERT_TRUE(results[0].ok()) << results[0].status();
  EXPECT_EQ(results[0]->bytes(), "a+a");
  EXPECT_EQ(results[1].status().code(), StatusCode::kInternal);
  EXPECT_EQ(check_.errors->value(), 1u);
}

TEST_F(ReducerTest, OneReductionInSomeIsChecked) {
  EXPECT_FALSE(check_.IsDue());
  check_.one_in = 3;
  int due_count = 0;
  for (int i = 0; i < 9; ++i) due_count += check_.IsDue() ? 1 : 0;
  EXPECT_EQ(due_count, 3);
}

}  // namespace
}  // namespace neptune
