#include "frontend/trace/hidden_servers.h"

#include <gtest/gtest.h>

namespace search::frontend {
namespace {

TEST(HiddenServersTest, AServerHasOneNumberInAllTrees) {
  SearchAnswer answer;
  answer.coverage.tiers.resize(2);
  answer.coverage.tiers[0].tree = {{.node = "store-7"}, {.node = "store-2"}};
  answer.coverage.tiers[1].tree = {{.node = "store-2"}, {.node = "store-9"}, {.node = "store-7"}};
  HideServers(&answer);
  const auto& tiers = answer.coverage.tiers;
  EXPECT_EQ(tiers[0].tree[0].node, "server 1");
  EXPECT_EQ(tiers[0].tree[1].node, "server 2");
  EXPECT_EQ(tiers[1].tree[0].node, "server 2");
  EXPECT_EQ(tiers[1].tree[1].node, "server 3");
  EXPECT_EQ(tiers[1].tree[2].node, "server 1");
}

}  // namespace
}  // namespace search::frontend
