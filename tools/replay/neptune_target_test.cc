// Replaying over Neptune's own protocol against a real node in the simulated world.

#include "tools/replay/neptune_target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "neptune/node/echo_module.h"
#include "neptune/node/node.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/world/sim/simulator.h"
#include "tools/replay/open_loop.h"

namespace search::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Recorder final : public LoadObserver {
 public:
  void HandleFinished(std::vector<Measurement> finished, const LoadProgress&) override {
    measurements.insert(measurements.end(), finished.begin(), finished.end());
  }
  void HandleEnd(const neptune::Status& status) override {
    ended = true;
    end = status;
  }
  uint64_t CountOf(Outcome outcome) const {
    return static_cast<uint64_t>(
        std::count_if(measurements.begin(), measurements.end(),
                      [outcome](const Measurement& m) { return m.outcome == outcome; }));
  }

  std::vector<Measurement> measurements;
  bool ended = false;
  neptune::Status end;
};

neptune::NodeOptions EchoNode(const std::string&) {
  const auto spec = neptune::ParseClusterSpec(
      "name: 'test' multicast_group: '239.192.7.1:7400' "
      "services { name: 'echo' module: 'echo' queue_length_max: 5 concurrency: 1 } "
      "nodes { name: 'n' hosts { service: 'echo' } }",
      "test");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return {.spec = *spec,
          .modules = [](const std::string&) { return std::make_unique<neptune::EchoModule>(); }};
}

class NeptuneTargetTest : public testing::Test {
 protected:
  NeptuneTargetTest() {
    nodes_.Add({.name = "n"});
    simulator_.RunFor(seconds(2));
  }
  ~NeptuneTargetTest() override {
    run_.reset();
    target_.reset();
  }

  // `count` requests a millisecond apart whose text is `query`.
  void Replay(const std::string& method, const std::string& query, int count) {
    plan_ = {.classes = {"gold"}, .queries = {query}};
    for (int i = 0; i < count; ++i) plan_.requests.push_back({.at_ns = i * int64_t{1'000'000}});
    neptune::Loop* const loop =
        *simulator_.AddHost({.name = "generator"}).StartLoop({.name = "generator"});
    const NeptuneTargetOptions options{.servers = {nodes_.node("n").call_endpoint()},
                                       .service = neptune::ServiceName("echo"),
                                       .partition = neptune::PartitionId(0),
                                       .method = neptune::MethodName(method),
                                       .timeout = seconds(2)};
    loop->Post([this, loop, options] {
      target_ = std::make_unique<NeptuneTarget>(*loop, plan_, options);
      run_ = std::make_unique<OpenLoop>(*loop, plan_, *target_,
                                        OpenLoopOptions{.timeout = seconds(2)}, recorder_);
      run_->Start();
    });
  }
  void RunToEnd() {
    ASSERT_TRUE(simulator_.RunUntilTrue([this] { return recorder_.ended; },
                                        simulator_.now() + seconds(60)));
    EXPECT_EQ(recorder_.measurements.size(), plan_.requests.size());
  }

  neptune::SimulatedNodes nodes_{{.seed = 5, .make_options = EchoNode}};
  neptune::Simulator& simulator_ = nodes_.simulator();
  ReplayPlan plan_;
  Recorder recorder_;
  std::unique_ptr<NeptuneTarget> target_;
  std::unique_ptr<OpenLoop> run_;
};

TEST_F(NeptuneTargetTest, CallsAreAnswered) {
  Replay("Echo", "hello", 500);
  RunToEnd();
  EXPECT_TRUE(recorder_.end.ok()) << recorder_.end;
  EXPECT_EQ(recorder_.CountOf(Outcome::kAnswered), 500u);
}

TEST_F(NeptuneTargetTest, FailuresAreErrors) {
  Replay("Fail", "hello", 10);
  RunToEnd();
  EXPECT_EQ(recorder_.CountOf(Outcome::kError), 10u);
}

// 10 ms of work each millisecond, five may wait.
TEST_F(NeptuneTargetTest, AFullQueueRejects) {
  Replay("Work", "10000", 200);
  RunToEnd();
  EXPECT_GT(recorder_.CountOf(Outcome::kRejected), 100u);
  EXPECT_GT(recorder_.CountOf(Outcome::kAnswered), 15u);
}

TEST_F(NeptuneTargetTest, ANodeThatIsGoneCostsItsCallsAndNoMore) {
  Replay("Echo", "hello", 3000);
  simulator_.At(simulator_.now() + seconds(1),
                [this] { simulator_.Crash("n", neptune::CrashKind::kProcess); });
  RunToEnd();
  EXPECT_GT(recorder_.CountOf(Outcome::kAnswered), 800u);
  EXPECT_GT(recorder_.CountOf(Outcome::kConnection), 1500u);
}

}  // namespace
}  // namespace search::tools
