// Modelled work: its mean, its inputs, and valid parameters.

#include "neptune/examples/modelled_work/modelled_work.h"

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "neptune/node/node.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples {
namespace {

// A node with one service, whose module takes its work from the parameters.
class WorkingModule final : public ServiceModule {
 public:
  struct Seen {
    ModelledWork first;
    ModelledWork second;
  };
  explicit WorkingModule(Seen* seen) : seen_(seen) {}
  void DeclareParameters(ParameterTable& table) override {
    seen_->first.DeclareParameter(table, "first_us");
    seen_->second.DeclareParameter(table, "second_us");
  }
  Status Start(ModuleContext& context) override {
    seen_->first.Start(context);
    seen_->second.Start(context);
    return OkStatus();
  }
  std::string implementation() const override { return "working"; }

 private:
  Seen* const seen_;
};

// Starts a node with that value of first_us and runs `body` on a user-level thread of it.
Status RunWith(
    const std::string& first_us, WorkingModule::Seen* seen,
    const std::function<void()>& body = [] {}) {
  const auto spec = ParseClusterSpec(
      "name: 'work' multicast_group: '239.192.7.3:7000' services { name: 'work' module: 'work' "
      "parameters { key: 'first_us' value: '" +
          first_us +
          "' } parameters { key: 'second_us' "
          "value: '1000' } } nodes { name: 'n' hosts { service: 'work' } }",
      "test");
  CHECK(spec.ok()) << spec.status();
  Status started;
  const auto make_module = [&](const std::string&) {
    return std::make_unique<WorkingModule>(seen);
  };
  SimulatedNodes nodes(
      {.make_options =
           [&](const std::string&) {
             return NodeOptions{.spec = *spec, .modules = make_module, .with_admin = false};
           },
       .on_start = [&](const std::string&, const Status& status) { started = status; }});
  nodes.AddAll(*spec);
  nodes.simulator().RunFor(std::chrono::milliseconds(100));
  if (!started.ok()) return started;
  nodes.Spawn("n", [&](ClientSession&) { body(); });
  nodes.simulator().RunFor(std::chrono::seconds(60));
  return started;
}

TEST(ModelledWorkTest, TimesAreExponentialWithTheMeanOfTheParameter) {
  WorkingModule::Seen seen;
  ASSERT_TRUE(RunWith("20000", &seen).ok());
  constexpr int kCount = 100'000;
  double sum_ms = 0;
  int above_mean_count = 0;
  for (uint64_t seed = 0; seed < kCount; ++seed) {
    const double ms = ToMillis(seen.first.TimeOf(seed));
    sum_ms += ms;
    above_mean_count += ms > 20;
  }
  EXPECT_NEAR(sum_ms / kCount, 20, 0.3);
  EXPECT_NEAR(static_cast<double>(above_mean_count) / kCount, std::exp(-1), 0.01);
}

TEST(ModelledWorkTest, SameSeedTakesTheSameTimeAndKindsAreIndependent) {
  WorkingModule::Seen seen;
  WorkingModule::Seen again;
  ASSERT_TRUE(RunWith("1000", &seen).ok());
  ASSERT_TRUE(RunWith("1000", &again).ok());
  for (uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(seen.first.TimeOf(seed), again.first.TimeOf(seed));
    EXPECT_NE(seen.first.TimeOf(seed), seen.second.TimeOf(seed));
  }
}

TEST(ModelledWorkTest, TakesItsTimeOfTheProcessors) {
  WorkingModule::Seen seen;
  Duration took{0};
  ASSERT_TRUE(RunWith("20000", &seen, [&] {
                const TimePoint begin = this_thread::Now();
                seen.first.Use(7);
                took = this_thread::Now() - begin;
              }).ok());
  EXPECT_GT(took, Duration(0));
  EXPECT_EQ(took, seen.first.TimeOf(7));
}

TEST(ModelledWorkTest, RefusesInvalidTimes) {
  for (const char* const text : {"", "-1", "fast", "1ms", "10000001", "99999999999999999999"}) {
    WorkingModule::Seen seen;
    EXPECT_EQ(RunWith(text, &seen).code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace neptune::examples
