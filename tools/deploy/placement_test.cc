#include "tools/deploy/placement.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

neptune::ClusterSpec Spec() {
  return *neptune::ParseClusterSpec(
      "name: 'c' multicast_group: '239.192.7.3:7400' "
      "services { name: 'web' module: 'web' } "
      "nodes { name: 'a' call_port: 7000 hosts { service: 'web' } } "
      "nodes { name: 'b' call_port: 7000 hosts { service: 'web' } } "
      "nodes { name: 'd' hosts { service: 'web' parameters { key: 'http_port' value: '80' } } } "
      "nodes { name: 'e' admin_port: 80 hosts { service: 'web' } }",
      "spec");
}

std::string ErrorOf(std::string_view text) {
  const auto placement = ParsePlacement(text, "f", Spec());
  return placement.ok() ? "" : std::string(neptune::ToStd(placement.status().message()));
}

TEST(PlacementTest, ReadsHostsInOrder) {
  const auto placement =
      ParsePlacement("# all\n\nalpha 10.0.0.1 a d # two\n\tbeta 10.0.0.2 e b\n", "f", Spec());
  ASSERT_TRUE(placement.ok()) << placement.status();
  ASSERT_EQ(placement->hosts.size(), 2u);
  EXPECT_EQ(placement->hosts[0].name, "alpha");
  EXPECT_EQ(placement->hosts[0].nodes, (std::vector<std::string>{"a", "d"}));
  EXPECT_EQ(placement->HostOfNodes().at("b")->address, "10.0.0.2");
}

TEST(PlacementTest, RefusesWithFileLineAndReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"alpha 10.0.0.1 a\n\nbeta 10.0.0.2 x", "f:3: node 'x' is not in the cluster spec"},
      {"alpha", "f:1: host 'alpha' has no address"},
      {"alpha a b", "f:1: host 'alpha' has no address: 'a' is not a.b.c.d"},
      {"alpha 0.0.0.0 a", "f:1: host 'alpha' has no address"},
      {"alpha 10.0.0.300 a", "f:1: host 'alpha' has no address"},
      {"alpha localhost a", "f:1: host 'alpha' has no address"},
      {"alpha 10.0.0.1", "f:1: host 'alpha' has no nodes"},
      {"Alpha 10.0.0.1 a", "f:1: host 'Alpha' is not a DNS label"},
      {"../x 10.0.0.1 a", "f:1: host '../x' is not a DNS label"},
      {"alpha 10.0.0.1 a\nalpha 10.0.0.2 b", "f:2: host 'alpha' is listed twice"},
      {"alpha 10.0.0.1 a\nbeta 10.0.0.1 b", "f:2: address 10.0.0.1 is listed twice"},
      {"alpha 10.0.0.1 a\nbeta 10.0.0.2 a", "f:2: node 'a' is on two hosts"},
      {"alpha 10.0.0.1 a b", "f:1: node 'b': call_port 7000 is taken by another node of host"},
      {"alpha 10.0.0.1 d e", "f:1: node 'e': admin_port 80 is taken by another node of host"},
      {"alpha 10.0.0.1 a", "f: node 'b' is on no host"},
      {"", "f: node 'a' is on no host"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_TRUE(ErrorOf(text).starts_with(error)) << text << " gives: " << ErrorOf(text);
  }
  EXPECT_NE(ErrorOf(std::string(kHostFileSizeMax + 1, ' ')), "");
}

TEST(PlacementTest, DnsLabels) {
  for (const char* name : {"a", "a-1", "0"}) EXPECT_TRUE(IsDnsLabel(name)) << name;
  for (const char* name : {"", "-a", "a-", "A", "a.b", "a_b", "\xc3\xa4"}) {
    EXPECT_FALSE(IsDnsLabel(name)) << name;
  }
  EXPECT_TRUE(IsDnsLabel(std::string(63, 'a')));
  EXPECT_FALSE(IsDnsLabel(std::string(64, 'a')));
}

}  // namespace
}  // namespace search::tools
