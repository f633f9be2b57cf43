// Whole nodes on simulated hosts: their order, restarts, failed starts, and bodies that do not end.

#include "neptune/testing/simulated_nodes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/service/client.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SimulatedNodesTest : public testing::Test {
 protected:
  SimulatedNodesTest() {
    nodes_.AddAll(spec_);
    simulator_.RunFor(seconds(2));
  }
  NodeOptions MakeOptions(const std::string& name) {
    booted_.push_back(name);
    return {.spec = spec_, .modules = modules_};
  }

  const ClusterSpec spec_ = EchoSpec(1, 1);
  ModuleFactory modules_ = MakeEcho;
  std::vector<std::string> booted_;
  std::vector<std::pair<std::string, StatusCode>> starts_;
  SimulatedNodes nodes_{
      {.make_options = [this](const std::string& name) { return MakeOptions(name); },
       .on_start = [this](const std::string& name,
                          const Status& status) { starts_.emplace_back(name, status.code()); }}};
  Simulator& simulator_ = nodes_.simulator();
};

TEST_F(SimulatedNodesTest, NodesBootInTheOrderOfTheSpecAndFindEachOther) {
  EXPECT_EQ(booted_, (std::vector<std::string>{"c", "s0"}));
  Data response;
  Status status = Unavailable("not called");
  EXPECT_TRUE(nodes_.Run(
      "c",
      [&](ClientSession& session) {
        status = Call(session,
                      {ServiceName("echo"), PartitionId(0), MethodName("Echo"), AccessMode::kRead},
                      Data("hello"), &response);
      },
      seconds(5)));
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(response.bytes(), "hello");
}

TEST_F(SimulatedNodesTest, ARestartedHostBootsItsNodeAgain) {
  const Endpoint endpoint = nodes_.node("s0").call_endpoint();
  simulator_.Crash("s0");
  EXPECT_FALSE(nodes_.lives("s0"));
  EXPECT_TRUE(nodes_.contains("s0"));
  EXPECT_FALSE(nodes_.contains("s1"));
  simulator_.Restart("s0");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(booted_, (std::vector<std::string>{"c", "s0", "s0"}));
  EXPECT_EQ(nodes_.node("s0").name(), NodeId("s0"));
  EXPECT_EQ(nodes_.node("s0").call_endpoint().address, endpoint.address);
}

TEST_F(SimulatedNodesTest, EachStartIsReported) {
  modules_ = [](const std::string& module) -> StatusOr<std::unique_ptr<ServiceModule>> {
    return NotFound("no module ", module);
  };
  simulator_.Restart("s0");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(starts_,
            (std::vector<std::pair<std::string, StatusCode>>{
                {"c", StatusCode::kOk}, {"s0", StatusCode::kOk}, {"s0", StatusCode::kNotFound}}));
}

TEST_F(SimulatedNodesTest, ABodyThatDoesNotEndIsGivenUpAtTheLimit) {
  const TimePoint begin = simulator_.now();
  bool ended = false;
  const auto body = [&](ClientSession&) {
    this_thread::SleepFor(seconds(2));
    ended = true;
  };
  EXPECT_FALSE(nodes_.Run("c", body, seconds(1)));
  EXPECT_EQ(simulator_.now(), begin + seconds(1));
  simulator_.RunFor(milliseconds(1500));
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace neptune
