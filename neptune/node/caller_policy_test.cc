#include "neptune/node/caller_policy.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.h"

namespace neptune {
namespace {

constexpr char kTls[] =
    "cluster_key_file: 'key' node_tls { certificate_file: 'c' key_file: 'k' authority_file: 'a' } ";

StatusOr<ClusterSpec> Parse(const std::string& tls, const std::string& callers) {
  return ParseClusterSpec(
      StrCat("name: 'c' multicast_group: '239.192.7.9:7409' ", tls,
             "services { name: 'web' module: 'm' } "
             "services { name: 'tier' module: 'm' partition_count: 2 ",
             callers,
             " replication { level: 'ordered_writes' witness: 'watch' } } "
             "services { name: 'cache' module: 'm' } "
             "nodes { name: 'front' hosts { service: 'web' } } "
             "nodes { name: 'store-1' hosts { service: 'tier' partitions: 0 } } "
             "nodes { name: 'store-2' hosts { service: 'tier' } } "
             "nodes { name: 'store-3' hosts { service: 'tier' partitions: 1 } } "
             "nodes { name: 'watch' hosts { service: 'cache' } } "),
      "spec");
}

class CallerPolicyTest : public testing::Test {
 protected:
  // The nodes that may call the service on the node `self`, of these and an unknown one.
  static std::string CallersOf(const std::string& service, const std::string& self) {
    const CallerPolicy policy(Parse(kTls, "callers: 'web'").value(), NodeId(self));
    std::string callers;
    for (const char* const node :
         {"front", "store-1", "store-2", "store-3", "watch", "unknown", ""}) {
      const Status status = policy.Check(node, service);
      if (status.ok()) StrAppend(&callers, node, " ");
      if (!status.ok()) {
        EXPECT_EQ(status.code(), StatusCode::kPermissionDenied);
      }
    }
    return callers;
  }
};

TEST_F(CallerPolicyTest, NodesOfTheCallersAndOfTheServiceItselfMayCall) {
  EXPECT_EQ(CallersOf("tier", "store-1"), "front store-1 store-2 store-3 ");
}

TEST_F(CallerPolicyTest, WithoutCallersEveryMemberMayCall) {
  EXPECT_EQ(CallersOf("cache", "watch"), "front store-1 store-2 store-3 watch unknown  ");
}

TEST_F(CallerPolicyTest, ReplicationIsForThoseThatShareAPartition) {
  for (const char* const service : {"neptune.replication", "neptune.snapshots"}) {
    // With two replicas a partition has the witness.
    EXPECT_EQ(CallersOf(service, "store-1"), "store-1 store-2 watch ");
    EXPECT_EQ(CallersOf(service, "store-3"), "store-2 store-3 watch ");
    EXPECT_EQ(CallersOf(service, "store-2"), "store-1 store-2 store-3 watch ");
    EXPECT_EQ(CallersOf(service, "front"), "") << "it keeps nothing";
  }
}

TEST_F(CallerPolicyTest, ARefusalNamesBoth) {
  const CallerPolicy policy(Parse(kTls, "callers: 'web'").value(), NodeId("store-1"));
  const Status status = policy.Check("watch", "tier");
  EXPECT_NE(status.message().find("node 'watch' may not call service tier on node store-1"),
            absl::string_view::npos)
      << status;
}

TEST_F(CallerPolicyTest, WrongCallersAreRefused) {
  const auto why = [](const std::string& tls, const std::string& callers) {
    const auto spec = Parse(tls, callers);
    return spec.ok() ? "" : spec.status().ToString();
  };
  EXPECT_NE(why(kTls, "callers: 'absent'").find("'absent' is not a service"), std::string::npos);
  EXPECT_NE(why("", "callers: 'web'").find("node_tls"), std::string::npos);
  EXPECT_EQ(why("", ""), "");
}

}  // namespace
}  // namespace neptune
