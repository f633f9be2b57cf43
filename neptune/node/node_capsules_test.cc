// The capsules of a node as its administration shows and changes them.

#include "neptune/node/node_capsules.h"

#include <gtest/gtest.h>

#include <string>

#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

class NodeCapsulesTest : public testing::Test {
 protected:
  HttpResponse Post(const std::string& body) {
    HttpRequest request;
    request.method = "POST";
    request.body = body;
    return capsules_.Put(request);
  }
  HttpResponse Delete(const std::string& name) {
    HttpRequest request;
    request.method = "DELETE";
    if (!name.empty()) request.parameters = {{"name", name}};
    return capsules_.Remove(request);
  }
  bool HasMetrics(const std::string& capsule) {
    return metrics_.Value("neptune_capsule_entered_total", {{"capsule", capsule}}).ok();
  }

  Simulator simulator_{1};
  MetricsRegistry metrics_;
  NodeCapsules capsules_{simulator_.AddHost({.name = "a"}), metrics_, true, nullptr};
};

TEST_F(NodeCapsulesTest, WhatIsShownCanBePostedAgain) {
  ASSERT_EQ(Post("capsule db { match: inet:10.0.0.7:5432 timeout_ms: 250 }").status, 200);
  const std::string shown = capsules_.Show().body;
  EXPECT_NE(shown.find("capsule db {"), std::string::npos) << shown;
  EXPECT_NE(shown.find("timeout_ms: 250"), std::string::npos) << shown;
  EXPECT_EQ(Post(shown).status, 200);
  EXPECT_EQ(capsules_.Show().body, shown);
}

TEST_F(NodeCapsulesTest, APostCreatesThenChangesAndADeleteDestroys) {
  ASSERT_EQ(Post("capsule db { match: service:db }").status, 200);
  EXPECT_TRUE(HasMetrics("db"));
  ASSERT_EQ(Post("capsule db { match: service:db resident_count_max: 5 }").status, 200);
  EXPECT_EQ(capsules_.stack().Named("db")->config().limits.resident_count_max, 5u);
  EXPECT_EQ(Delete("db").status, 200);
  EXPECT_EQ(capsules_.stack().Named("db"), nullptr);
  EXPECT_FALSE(HasMetrics("db"));
  ASSERT_EQ(Post("capsule db { match: service:db }").status, 200);
  EXPECT_TRUE(HasMetrics("db")) << "under the same name as before";
}

TEST_F(NodeCapsulesTest, ConflictsAreReportedToTheirCause) {
  const HttpResponse response =
      Post("capsule all { match: service:db } capsule one { match: service:db/0 }");
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.body.find("body:1: capsule 'one'"), std::string::npos) << response.body;
}

TEST_F(NodeCapsulesTest, ConflictsWithExistingCapsulesAreReported) {
  ASSERT_EQ(
      Post("capsule one { match: inet:10.0.0.7:5432 } capsule other { match: inet:10.1.0.0/16 }")
          .body,
      "done\n");
  EXPECT_EQ(Post("capsule rack { match: inet:10.0.0.0/24 }").body,
            "done\ncapsule 'one': rule 'inet:10.0.0.7:5432' is shadowed by "
            "'inet:10.0.0.0/24' of capsule 'rack' above it\n");
  EXPECT_EQ(Post("capsule other { match: inet:10.0.0.128/25 }").body,
            "done\ncapsule 'other': rule 'inet:10.0.0.128/25' is shadowed by "
            "'inet:10.0.0.0/24' of capsule 'rack' above it\n");
}

TEST_F(NodeCapsulesTest, WhatCannotBeIsRefusedWithItsReason) {
  EXPECT_EQ(Post("capsule db {\n match: nonsense }").status, 400);
  EXPECT_NE(Post("capsule db {\n match: nonsense }").body.find("body:2"), std::string::npos);
  EXPECT_EQ(Post("capsule db { match: service:db policy: plugin library: /tmp/x.so }").status, 400);
  EXPECT_EQ(Post("capsule db { match: service:db migrate_to: absent }").status, 404);
  EXPECT_EQ(Delete("absent").status, 404);
  EXPECT_EQ(Delete("").status, 400);
  EXPECT_EQ(Delete("default").status, 409);
  EXPECT_EQ(capsules_.stack().All().size(), 1u);
}

TEST_F(NodeCapsulesTest, TheStatusPageHasARowForEach) {
  ASSERT_EQ(Post("capsule db { match: service:db }").status, 200);
  StatusReport report;
  capsules_.Describe(&report);
  ASSERT_EQ(report.tables.size(), 2u);
  for (const StatusTable& table : report.tables) {
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_EQ(table.rows[0][0], StatusCell("db"));
    EXPECT_EQ(table.rows[1][0], StatusCell("default"));
    EXPECT_EQ(table.rows[0].size(), table.columns.size());
  }
}

}  // namespace
}  // namespace neptune
