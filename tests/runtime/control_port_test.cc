// What keeps a cluster together has a port of its own: users' services are not answered there, and
// control services not at the call port.

#include <gtest/gtest.h>

#include "neptune/membership/service_yellow_page.h"
#include "neptune/replication/agent/addressed_message.h"
#include "neptune/replication/agent/replica_links.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/node_loops.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::seconds;

class ControlPortTest : public ReplicatedRegistersTest {
 protected:
  ControlPortTest() { Start(3, kOrdered); }

  std::shared_ptr<const Announcement> Announced(const std::string& node) {
    return cluster_->node("c").View()->Find(NodeId(node));
  }
  const HostedService* Find(const Announcement& announcement, const std::string& service) {
    for (const HostedService& hosted : announcement.services) {
      if (hosted.service.value() == service) return &hosted;
    }
    return nullptr;
  }

  // The client's view of s0 with the ports of its services exchanged.
  std::shared_ptr<const YellowPageView> ViewWithPortsExchanged() {
    Announcement announcement = *Announced("s0");
    for (HostedService& hosted : announcement.services) hosted.is_control = !hosted.is_control;
    ServiceYellowPage page;
    page.Receive(announcement, simulator().now());
    return page.View();
  }
  // Calls a method at the port of s0 where its service is not.
  Status CallAtTheOtherPort(const ServiceName& service, const char* method, const Data& request) {
    Status status;
    const auto view = ViewWithPortsExchanged();
    cluster_->RunOnClient([&](ClientSession& session) {
      cluster_->node("c").loops().Current().client->set_view(view);
      Data response;
      status = Call(session, {service, PartitionId(0), MethodName(method), AccessMode::kWrite},
                    request, &response, {.deadline = this_thread::Now() + seconds(2)});
    });
    return status;
  }
};

TEST_F(ControlPortTest, ControlServicesAreAnnouncedAtTheControlPort) {
  const auto announced = Announced("s0");
  ASSERT_NE(announced, nullptr);
  EXPECT_EQ(announced->control_endpoint, cluster_->node("s0").control_endpoint());
  EXPECT_NE(announced->control_endpoint, announced->call_endpoint);
  ASSERT_NE(Find(*announced, kReplicationService), nullptr);
  EXPECT_TRUE(Find(*announced, kReplicationService)->is_control);
  ASSERT_NE(Find(*announced, kSnapshotService), nullptr);
  EXPECT_FALSE(Find(*announced, kSnapshotService)->is_control);
  EXPECT_FALSE(Find(*announced, "registers")->is_control);
}

TEST_F(ControlPortTest, UsersServicesAreRefusedAtTheControlPort) {
  const Status status = CallAtTheOtherPort(kRegisters, "Append", Data("k=v"));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status;
  EXPECT_NE(status.message().find("registers is not answered at the control port of node s0"),
            absl::string_view::npos)
      << status;
}

TEST_F(ControlPortTest, ControlServicesAreRefusedAtTheCallPort) {
  const Status status = CallAtTheOtherPort(ServiceName(kReplicationService), kExchangeMethod,
                                           Data(EncodeAddressedMessages({})));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status;
  EXPECT_NE(
      status.message().find("neptune.replication is not answered at the call port of node s0"),
      absl::string_view::npos)
      << status;
}

}  // namespace
}  // namespace neptune
