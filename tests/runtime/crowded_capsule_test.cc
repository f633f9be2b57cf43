// Replication on nodes whose default capsule is as small as it can be.

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::seconds;
using CrowdedCapsuleTest = ReplicatedRegistersTest;

TEST_F(CrowdedCapsuleTest, ReplicasReachEachOtherAlthoughTheDefaultCapsuleIsFull) {
  Start(5, kOrdered, 1, nullptr, "capsules { name: 'default' resident_count_max: 1 }");
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(Append(session, StrCat("k", i, "=v")).ok()) << i;
  });
  simulator().RunFor(seconds(10));
  const ReplicaAgent::State primary = Agent("s0")->status();
  EXPECT_EQ(primary.role, ReplicaRole::kPrimary);
  EXPECT_EQ(primary.write_set.size(), 5);
  for (const char* node : {"s1", "s2", "s3", "s4"}) {
    EXPECT_EQ(Agent(node)->status().executed, primary.executed) << node;
  }
  const auto refused = cluster_->node("s0").metrics().Value("neptune_capsule_refused_total",
                                                            {{"capsule", "replication-calls"}});
  EXPECT_EQ(refused.value(), 0);
}

}  // namespace
}  // namespace neptune
