#include "neptune/dac/reductions.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/dac/calling_node.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using Turn = Reductions::Turn;

// The place of a node with a thread that waits, once it has come.
class WaitingThread final : public ReductionPlace {
 public:
  void OnLocalServed() override { is_open_ = true; }
  bool is_open() const override { return is_open_; }
  void Run(Task reduction) override { given.push_back(std::move(reduction)); }
  void Close() override {}

  std::vector<Task> given;

 private:
  bool is_open_ = false;
};

// One aggregation's results. The operator writes its operands in brackets.
class ReductionsTest : public testing::Test {
 protected:
  ReductionsTest() {
    task_.service = ServiceName("index");
    task_.plan.reduce = MethodName("Merge");
    task_.reduce.function = [this](const Data& first, const Data& second, const Data&,
                                   Data* result) -> Status {
      if (second.bytes() == "bad") return DataLoss("a bad result");
      if (reduction_time_ > Duration(0)) (void)this_thread::SleepFor(reduction_time_);
      *result = Data(StrCat("(", first.bytes(), " ", second.bytes(), ")"));
      return OkStatus();
    };
  }
  ~ReductionsTest() override {
    node_.OnLoop([this] { results_.reset(); });
  }

  // An aggregation over the own partitions of the task and this number of children.
  Reductions& Begin(int child_count) {
    work_.emplace(node_.environment().costs, task_.service, task_.own.size(), child_count);
    results_ = std::make_shared<Reductions>(node_.environment(), task_, node_.loop(), *work_,
                                            [this](Turn turn) { turns_.push_back(turn); });
    results_->Begin(results_);
    for (size_t i = 0; i < task_.own.size(); ++i) results_->progress().Expect(/*local=*/true);
    for (int i = 0; i < child_count; ++i) results_->progress().Expect(/*local=*/false);
    return *results_;
  }
  void Settle(const std::string& result, bool local = false) {
    results_->progress().Settle(local, Data(result), {});
  }
  // The results "a" and "b" of two children arrive.
  void SettleBoth() {
    Settle("a");
    Settle("b");
    results_->Advance();
  }
  std::string Result() {
    const AggregationProgress::Outcome outcome = results_->progress().ReleaseOutcome();
    EXPECT_TRUE(outcome.reduce_error.ok()) << outcome.reduce_error;
    return outcome.result ? std::string(outcome.result->bytes()) : "none";
  }

  CallingNode node_;
  NodeTask task_;
  Duration reduction_time_{0};
  std::optional<TaskWork> work_;
  std::vector<Turn> turns_;
  std::shared_ptr<Reductions> results_;
};

TEST_F(ReductionsTest, ShortReductionsRunAtOnce) {
  Begin(3);
  node_.OnLoop([this] {
    Settle("a");
    results_->Advance();
    EXPECT_TRUE(turns_.empty());
    Settle("b");
    Settle("c");
    results_->Advance();
    EXPECT_EQ(turns_, std::vector<Turn>{Turn::kDone});
  });
  EXPECT_EQ(Result(), "((a b) c)");
}

TEST_F(ReductionsTest, LongReductionOfACallerRunsOnAThread) {
  task_.reduce.options.grain = Grain::kLong;
  reduction_time_ = milliseconds(5);
  Begin(2);
  node_.OnLoop([this] {
    SettleBoth();
    EXPECT_TRUE(turns_.empty());
  });
  node_.simulator().RunFor(milliseconds(6));
  EXPECT_EQ(turns_, std::vector<Turn>{Turn::kDone});
  EXPECT_EQ(Result(), "(a b)");
}

TEST_F(ReductionsTest, OnlyReductionsAfterTheLocalOperatorsDelayTheAnswer) {
  task_.own = {PartitionId(0)};
  task_.reduce.options.grain = Grain::kLong;
  reduction_time_ = milliseconds(5);
  Begin(2);
  node_.OnLoop([this] { SettleBoth(); });
  node_.simulator().RunFor(milliseconds(6));
  EXPECT_EQ(results_->time_after_locals(), Duration(0));
  node_.OnLoop([this] {
    Settle("c", /*local=*/true);
    results_->OnLocalsEnded();
    results_->Advance();
  });
  node_.simulator().RunFor(milliseconds(6));
  EXPECT_EQ(results_->time_after_locals(), milliseconds(5));
  EXPECT_EQ(turns_, std::vector<Turn>{Turn::kDone});
}

TEST_F(ReductionsTest, CallThatMissesTooManyPartitionsIsHopeless) {
  task_.plan.missing_count_max = 1;
  Begin(3);
  node_.OnLoop([this] {
    results_->progress().Miss({{PartitionId(4), Unavailable("gone")}});
    results_->Advance();
    EXPECT_TRUE(turns_.empty()) << "one may be missing";
    results_->progress().Miss({{PartitionId(5), Unavailable("gone")}});
    results_->Advance();
    EXPECT_EQ(turns_, std::vector<Turn>{Turn::kHopeless});
    results_->progress().Expire();
    results_->Advance();
    EXPECT_EQ(turns_, (std::vector<Turn>{Turn::kHopeless, Turn::kDone}));
  });
}

TEST_F(ReductionsTest, ErrorOfTheOperatorEndsTheAggregation) {
  Begin(4);
  node_.OnLoop([this] {
    Settle("a");
    Settle("bad");
    results_->Advance();
    EXPECT_EQ(turns_, std::vector<Turn>{Turn::kDone}) << "two children are not waited for";
  });
  const AggregationProgress::Outcome outcome = results_->progress().ReleaseOutcome();
  EXPECT_EQ(outcome.reduce_error.code(), StatusCode::kDataLoss);
  EXPECT_NE(outcome.reduce_error.message().find("index"), absl::string_view::npos)
      << outcome.reduce_error;
  EXPECT_FALSE(outcome.result.has_value());
}

TEST_F(ReductionsTest, ReductionThatEndsAfterTheAggregationIsDropped) {
  task_.reduce.options.grain = Grain::kLong;
  reduction_time_ = milliseconds(5);
  Begin(2);
  node_.OnLoop([this] {
    SettleBoth();
    results_->Close();
  });
  node_.simulator().RunFor(milliseconds(6));
  EXPECT_TRUE(turns_.empty());
  EXPECT_FALSE(results_->progress().done()) << "its result was not taken";
}

TEST_F(ReductionsTest, ReductionThatEndsAfterItsOwnerIsGoneIsDropped) {
  node_.environment().reduction_place = [] { return std::make_shared<WaitingThread>(); };
  task_.own = {PartitionId(0)};
  const auto place = std::static_pointer_cast<WaitingThread>(Begin(2).place());
  node_.OnLoop([this] {
    SettleBoth();
    results_.reset();
  });
  ASSERT_EQ(place->given.size(), 1u);
  node_.OnLoop(std::move(place->given[0]));
  EXPECT_TRUE(turns_.empty());
}

TEST_F(ReductionsTest, PlaceIsGivenOneReductionAtATime) {
  node_.environment().reduction_place = [] { return std::make_shared<WaitingThread>(); };
  task_.own = {PartitionId(0)};
  const auto place = std::static_pointer_cast<WaitingThread>(Begin(4).place());
  node_.OnLoop([&] {
    for (const char* const result : {"a", "b", "c", "d"}) Settle(result);
    results_->Advance();
    results_->Advance();
    EXPECT_EQ(place->given.size(), 1u);
  });
  node_.OnLoop(std::move(place->given[0]));
  EXPECT_EQ(place->given.size(), 2u) << "the next one follows the first";
}

TEST_F(ReductionsTest, PlaceToWhichNoThreadHasComeIsNotUsedOnceTheLocalOperatorsHaveEnded) {
  node_.environment().reduction_place = [] { return std::make_shared<WaitingThread>(); };
  for (const bool has_come : {false, true}) {
    task_.own = {PartitionId(0)};
    const auto place = std::static_pointer_cast<WaitingThread>(Begin(1).place());
    node_.OnLoop([&] {
      if (has_come) place->OnLocalServed();
      Settle("a", /*local=*/true);
      Settle("b");
      results_->OnLocalsEnded();
      results_->Advance();
      EXPECT_EQ(place->given.size(), has_come ? 1u : 0u);
      EXPECT_EQ(results_->progress().done(), !has_come);
    });
  }
}

TEST_F(ReductionsTest, NodeWithoutOwnPartitionsHasNoPlace) {
  node_.environment().reduction_place = [] { return std::make_shared<WaitingThread>(); };
  EXPECT_EQ(Begin(2).place(), nullptr);
}

TEST_F(ReductionsTest, PendingWorkOfTheNodeFallsWithEachReduction) {
  CostMeter& costs = node_.environment().costs;
  costs.AddReduce(task_.service, milliseconds(7));
  task_.own = {PartitionId(0)};
  Begin(2);
  EXPECT_EQ(costs.pending(), milliseconds(14));
  node_.OnLoop([this] { SettleBoth(); });
  EXPECT_EQ(costs.pending(), milliseconds(7));
}

}  // namespace
}  // namespace neptune
