// Three nodes of the real world that keep replicas: a serving loop of the primary's node hangs, and
// another member takes its place.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/notification.h"
#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/testing/real_node.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const PartitionId kPartition(0);

// Registers, and a short method that blocks its loop until the test releases it.
class BlockingRegisters final : public ServiceModule {
 public:
  explicit BlockingRegisters(absl::Notification& go_on) : go_on_(go_on) {}

  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName("Block"), {}, [this](RequestContext&, const Data&, Data*) {
      go_on_.WaitForNotification();
      return OkStatus();
    });
    return registers_.Start(context);
  }
  Status Health(PartitionId partition) override { return registers_.Health(partition); }
  std::string implementation() const override { return "blocking registers"; }
  void Stop() override { registers_.Stop(); }

 private:
  absl::Notification& go_on_;
  RegisterModule registers_;
};

class HungPrimaryTest : public testing::Test {
 protected:
  HungPrimaryTest() : folder_(testing::TempDir() + "/hung_primary") {
    const UniquePort port;
    std::filesystem::remove_all(folder_);
    ClusterSpec spec = RegisterSpec({"s0", "s1", "s2"}, kOrdered, StrCat("test-", port.number()));
    spec.set_multicast_group(StrCat("239.192.7.2:", port.number()));
    for (const NodeSpec& node : spec.nodes()) {
      NodeOptions options;
      options.spec = spec;
      options.name = NodeId(node.name());
      options.modules = [this](const std::string& module) { return Make(module); };
      const RealWorldOptions world{.storage_directory = StrCat(folder_, "/", node.name())};
      nodes_[node.name()] = StartRealNode(std::move(options), world);
    }
  }
  ~HungPrimaryTest() override {
    if (!go_on_.HasBeenNotified()) go_on_.Notify();
    nodes_.clear();
    std::filesystem::remove_all(folder_);
  }

  StatusOr<std::unique_ptr<ServiceModule>> Make(const std::string& module) {
    if (module == "registers") return std::make_unique<BlockingRegisters>(go_on_);
    return MakeModules(module);
  }
  Node& client() { return nodes_.at("c")->node(); }
  void OnClient(const std::function<void(ClientSession&)>& body) {
    Notification done;
    client().RunOnControl([&] {
      ClientSession session(client().client());
      body(session);
      done.Notify();
    });
    done.WaitForNotification();
  }
  // Appends until that is acknowledged; returns the time that it took.
  Duration Write(const std::string& text) {
    Duration took{};
    OnClient([&](ClientSession& session) {
      const TimePoint start = this_thread::Now();
      Status status = Unavailable("not written");
      while (!status.ok() && this_thread::Now() < start + seconds(30)) {
        ReplicaSession replicas(session);
        Data response;
        status = replicas.Call({kRegisters, kPartition, MethodName("Append"), AccessMode::kWrite},
                               Data(text), &response,
                               {.deadline = this_thread::Now() + milliseconds(500)});
        if (!status.ok()) this_thread::SleepFor(milliseconds(20));
      }
      EXPECT_TRUE(status.ok()) << status;
      took = this_thread::Now() - start;
    });
    return took;
  }
  ReplicaAgent::State StateOf(const std::string& node) {
    return nodes_.at(node)->node().replication().Find(kRegisters, kPartition)->status();
  }
  std::string Primary() {
    for (const char* node : {"s0", "s1", "s2"}) {
      if (StateOf(node).role == ReplicaRole::kPrimary) return node;
    }
    return "";
  }

  const std::string folder_;
  absl::Notification go_on_;
  std::map<std::string, std::unique_ptr<RealNode>> nodes_;
};

TEST_F(HungPrimaryTest, AnotherMemberTakesThePlaceOfAPrimaryThatCannotBeReached) {
  Write("k=before;");
  const std::string first = Primary();
  ASSERT_NE(first, "");
  client().RunOnControl([this, first] {
    ClientSession session(client().client());
    Data response;
    (void)Call(
        session, {kRegisters, kPartition, MethodName("Block"), AccessMode::kRead}, Data(),
        &response,
        {.deadline = this_thread::Now() + seconds(1), .attempts_max = 1, .only = NodeId(first)});
  });
  // Writes may be acknowledged until the loop is blocked; therefore by state.
  OnClient([&](ClientSession&) {
    const TimePoint end = this_thread::Now() + seconds(30);
    while ((Primary() == first || Primary().empty()) && this_thread::Now() < end) {
      this_thread::SleepFor(milliseconds(20));
    }
  });
  EXPECT_NE(Primary(), first);
  EXPECT_LT(Write("k=after;"), seconds(10));
  go_on_.Notify();
  Write("k=later;");
}

}  // namespace
}  // namespace neptune
