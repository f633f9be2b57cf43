// The times that writes count as accepted at: monotonic whatever the primaries' clocks do.

#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/numbers.h"
#include "neptune/base/strings.h"
#include "neptune/replication/agent/replicated_service.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/testing/simulated_cluster.h"

namespace neptune {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const ServiceName kService("times");

// Each write answers how many nanoseconds it was accepted after the one before it.
class TimesModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override {
    service_ = std::make_unique<ReplicatedService>(context);
    service_->Write(
        MethodName("Add"),
        [](const WriteContext& write, std::string_view, std::string* response) -> Status {
          NEPTUNE_ASSIGN_OR_RETURN(const auto last, write.store.Get("last"));
          int64_t last_ns = write.accepted_at.ns_since_1970;
          if (last && !absl::SimpleAtoi(*last, &last_ns)) return Internal("no number");
          write.changes.Put("last", StrCat(write.accepted_at.ns_since_1970));
          *response = StrCat(write.accepted_at.ns_since_1970 - last_ns);
          return OkStatus();
        });
    return service_->Open();
  }
  Status Health(PartitionId partition) override { return service_->Health(partition); }
  std::string implementation() const override { return "times"; }

 private:
  std::unique_ptr<ReplicatedService> service_;
};

class AcceptedTimeTest : public testing::Test {
 protected:
  AcceptedTimeTest() { simulator().RunFor(seconds(2)); }
  static SimulatedClusterOptions Options() {
    const auto spec = ParseClusterSpec(
        "name: 'test' multicast_group: '239.192.7.1:7400' services { name: 'times' module: 'times' "
        "replication { level: 'ordered_writes' } } services { name: 'idle' module: 'echo' } "
        "nodes { name: 'c' hosts { service: 'idle' } } nodes { name: 's0' hosts { service: 'times' "
        "} } nodes { name: 's1' hosts { service: 'times' } } nodes { name: 's2' hosts { service: "
        "'times' } }",
        "test");
    EXPECT_TRUE(spec.ok()) << spec.status();
    SimulatedClusterOptions options;
    options.spec = *spec;
    options.modules = [](const std::string& module) -> StatusOr<std::unique_ptr<ServiceModule>> {
      if (module == "times") return std::make_unique<TimesModule>();
      return MakeEcho(module);
    };
    return options;
  }
  Simulator& simulator() { return cluster_.simulator(); }
  // How long after the write before it this one was accepted.
  Duration Add() {
    int64_t ns = -1;
    cluster_.RunOnClient([&](ClientSession& session) {
      ReplicaSession replicas(session);
      Data response;
      const Status status = replicas.Call(
          {kService, PartitionId(0), MethodName("Add"), AccessMode::kWrite}, Data(""), &response);
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_TRUE(absl::SimpleAtoi(response.bytes(), &ns));
    });
    return Duration(ns);
  }

  SimulatedCluster cluster_{Options()};
};

TEST_F(AcceptedTimeTest, StandsStillWhileThePrimarysClockIsBack) {
  Add();
  simulator().RunFor(seconds(1));
  EXPECT_GE(Add(), seconds(1));
  simulator().SetClockOffset("s0", -hours(1));
  EXPECT_EQ(Add(), Duration(0));
  simulator().SetClockOffset("s0", Duration(0));
  simulator().RunFor(seconds(1));
  EXPECT_GE(Add(), seconds(1));
}

TEST_F(AcceptedTimeTest, IsKeptByTheNextPrimary) {
  simulator().SetClockOffset("s0", hours(1));
  Add();
  simulator().RunFor(seconds(1));
  simulator().Crash("s0");
  simulator().RunFor(seconds(2));
  EXPECT_EQ(Add(), Duration(0));
}

TEST_F(AcceptedTimeTest, IsKeptByAPrimaryThatStartsAgain) {
  simulator().SetClockOffset("s0", hours(1));
  Add();
  simulator().RunFor(seconds(1));
  for (const char* node : {"s0", "s1", "s2"}) simulator().Crash(node);
  simulator().SetClockOffset("s0", Duration(0));
  for (const char* node : {"s0", "s1", "s2"}) simulator().Restart(node);
  simulator().RunFor(seconds(3));
  EXPECT_EQ(Add(), Duration(0));
}

}  // namespace
}  // namespace neptune
