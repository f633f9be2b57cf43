#include "neptune/base/text_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neptune/base/file.h"
#include "neptune/base/text_config_test.pb.h"

namespace neptune {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using text_config_test::Cluster;

std::string ErrorOf(std::string_view text) {
  Cluster cluster;
  const Status status = ParseTextConfig(text, "c.textproto", &cluster);
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::kInvalidArgument);
  EXPECT_TRUE(status.ok() || cluster.ByteSizeLong() == 0);
  return std::string(ToStd(status.message()));
}

TEST(TextConfigTest, MessageIsReadWithComments) {
  Cluster cluster;
  ASSERT_TRUE(ParseTextConfig("# two nodes\nname: 'demo' node { name: 'a' port: 1 }\n"
                              "node { policy: POLL }",
                              "c.textproto", &cluster)
                  .ok());
  EXPECT_EQ(cluster.name(), "demo");
  EXPECT_EQ(cluster.node(0).port(), 1u);
  EXPECT_EQ(cluster.node(1).policy(), text_config_test::POLL);
}

TEST(TextConfigTest, UnknownFieldIsRefusedAtItsPlace) {
  const std::string error = ErrorOf("name: 'demo'\nnode {\n  prot: 1\n}\n");
  EXPECT_THAT(error, StartsWith("c.textproto:3:"));
  EXPECT_THAT(error, HasSubstr("\"prot\""));
}

TEST(TextConfigTest, ImpossibleValuesAreRefusedAtTheirPlace) {
  EXPECT_THAT(ErrorOf("name: 'x' node { port: -1 }"), StartsWith("c.textproto:1:"));
  EXPECT_THAT(ErrorOf("name: 'x'\nnode { port: 4294967296 }"), StartsWith("c.textproto:2:"));
  EXPECT_THAT(ErrorOf("name: 'x' node { policy: NONE }"), HasSubstr("NONE"));
  EXPECT_THAT(ErrorOf("name: 'x'\n\nname: 'y'"), StartsWith("c.textproto:3:"));
  EXPECT_THAT(ErrorOf("name: 'x' node {"), StartsWith("c.textproto:1:"));
}

TEST(TextConfigTest, MissingRequiredFieldIsRefused) {
  const std::string error = ErrorOf("node { port: 1 }");
  EXPECT_THAT(error, StartsWith("c.textproto:1:1: "));
  EXPECT_THAT(error, HasSubstr("name"));
}

TEST(TextConfigTest, DeepNestingIsRefused) {
  std::string text = "name: 'x' node {";
  for (int i = 0; i < 100'000; ++i) text += " child {";
  EXPECT_THAT(ErrorOf(text), StartsWith("c.textproto:1:"));
}

TEST(TextConfigTest, OversizedTextIsRefused) {
  EXPECT_THAT(ErrorOf(std::string(kTextConfigSizeMax + 1, ' ')), EndsWith("bytes"));
}

TEST(TextConfigTest, FileIsReadAndNamedInErrors) {
  const std::string path = testing::TempDir() + "/cluster.textproto";
  ASSERT_TRUE(WriteFileAtomically(path, "name: 'demo'\nnode: 3\n").ok());
  Cluster cluster;
  EXPECT_THAT(std::string(ToStd(LoadTextConfig(path, &cluster).message())),
              StartsWith(path + ":2:"));
  ASSERT_TRUE(WriteFileAtomically(path, "name: 'demo'").ok());
  EXPECT_TRUE(LoadTextConfig(path, &cluster).ok());
  EXPECT_EQ(LoadTextConfig(path + ".none", &cluster).code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace neptune
