// The capsule text format: accepted texts, and errors with file, line and reason.

#include "neptune/capsule/capsule_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

StatusOr<std::vector<CapsuleConfig>> Parse(std::string_view text) {
  return ParseCapsules(text, {"file"}, nullptr);
}

TEST(CapsuleTextTest, EveryFieldIsRead) {
  const auto configs = Parse(R"(
    # Redis
    capsule "cache" {
      match: inet:10.0.0.0/24:6379   # the whole rack
      match:service:cache/2
      resident_count_max: 200  throttle_count: 150
      processing_count_max: 32
      timeout_ms: 500.25
      low_watermark: 20 high_watermark: 100
      failure_count_max: 4  bypass_share: 0.25
      probe_interval_ms: 50 ramp_count: 2 ramp_period_ms: 10 ramp_length: 3
      policy: priority class: gold class: "silver tier"
      migrate_to: other
    }
    capsule disk { match: "disk:/var/my \"files\"/**" timeout_ms: none
                   policy: plugin library: /lib/p.so parameters: "a=1 b=2" }
    capsule default { resident_count_max: 7 }
  )");
  ASSERT_TRUE(configs.ok()) << configs.status();
  ASSERT_EQ(configs->size(), 3u);
  const CapsuleConfig& cache = (*configs)[0];
  EXPECT_EQ(cache.name, "cache");
  EXPECT_EQ(cache.type, ResourceType::kNetwork);
  ASSERT_EQ(cache.rules.size(), 2u);
  EXPECT_EQ(cache.rules[0].text(), "inet:10.0.0.0/24:6379");
  EXPECT_EQ(cache.rules[1].text(), "service:cache/2");
  EXPECT_EQ(cache.limits.resident_count_max, 200u);
  EXPECT_EQ(cache.limits.throttle_count, 150u);
  EXPECT_EQ(cache.limits.timeout, std::chrono::microseconds(500'250));
  EXPECT_EQ(cache.processing_count_max, 32u);
  EXPECT_EQ(cache.feedback.low_watermark, 20u);
  EXPECT_EQ(cache.feedback.high_watermark, 100u);
  EXPECT_EQ(cache.feedback.failure_count_max, 4u);
  EXPECT_EQ(cache.feedback.bypass_share, 0.25);
  EXPECT_EQ(cache.feedback.probe_interval, milliseconds(50));
  EXPECT_EQ(cache.feedback.ramp_count, 2u);
  EXPECT_EQ(cache.feedback.ramp_period, milliseconds(10));
  EXPECT_EQ(cache.feedback.ramp_length, 3);
  EXPECT_EQ(cache.policy.kind, PolicyKind::kPriority);
  EXPECT_EQ(cache.policy.classes, (std::vector<std::string>{"gold", "silver tier"}));
  EXPECT_EQ(cache.migrate_to, "other");
  const CapsuleConfig& disk = (*configs)[1];
  EXPECT_EQ(disk.type, ResourceType::kDevice);
  EXPECT_EQ(disk.rules[0].text(), "disk:/var/my \"files\"/**");
  EXPECT_EQ(disk.limits.timeout, kNoTimeout);
  EXPECT_EQ(disk.policy.library, "/lib/p.so");
  EXPECT_EQ(disk.policy.parameters, "a=1 b=2");
  EXPECT_EQ((*configs)[2].limits.resident_count_max, 7u);
  EXPECT_EQ((*configs)[2].limits.timeout, kNoTimeout)
      << "fields that are not set keep their values";
}

TEST(CapsuleTextTest, WrittenTextIsReadBackUnchanged) {
  const auto configs = Parse(R"(
    capsule a { match: "service:x y\\z" timeout_ms: 0.000001 bypass_share: 0.333 }
    capsule b { match: disk:/dev/sd[ab] timeout_ms: none policy: plugin library: "p q" parameters: "\"" }
    capsule default { policy: priority class: "a#b" }
  )");
  ASSERT_TRUE(configs.ok()) << configs.status();
  std::string text;
  for (const CapsuleConfig& config : *configs) text += FormatCapsule(config);
  const auto again = Parse(text);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << text;
  std::string text_again;
  for (const CapsuleConfig& config : *again) text_again += FormatCapsule(config);
  EXPECT_EQ(text, text_again);
  EXPECT_EQ((*again)[0].limits.timeout, Duration(1));
  EXPECT_EQ((*again)[0].rules[0].text(), "service:x y\\z");
}

TEST(CapsuleTextTest, MistakesAreReportedWithTheirLine) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"\nfoo", "file:2: expected 'capsule NAME {'"},
      {"capsule {", "file:1: expected a capsule name"},
      {"capsule a\n}", "file:2: expected '{' after the name of capsule 'a'"},
      {"\ncapsule a {\n match: service:x\n", "file:2: capsule 'a' has no closing '}'"},
      {"capsule a {\n match service:x }", "file:2: expected ':' after 'match'"},
      {"capsule a {\n\n mach: service:x }", "file:3: unknown capsule field 'mach'"},
      {"capsule a {\n match: }", "file:2: match has no value"},
      {"capsule a {\n match: \"x\n\" }", "file:2: unterminated quoted text"},
      {"capsule a {\n match: \"\\n\" }", "file:2: expected '\"' or '\\' after '\\'"},
      {"capsule a {\n match: inet:a.b .c }", "file:2: expected ':' after '.c'"},
      {"capsule a {\n match: inet:10.0.0.1/24 }", "file:2: match: rule 'inet:10.0.0.1/24'"},
      {"capsule a { match: service:x\n timeout_ms: -1 }",
       "file:2: timeout_ms: '-1' is not a number"},
      {"capsule a { match: service:x\n timeout_ms: 1.0000001 }", "more than six decimals"},
      {"capsule a { match: service:x\n timeout_ms: 99999999999 }", "file:2: timeout_ms"},
      {"capsule a { match: service:x timeout_ms: 0 }",
       "file:1: capsule 'a': timeout must be greater than 0"},
      {"capsule a { match: service:x\n throttle_count: 1\n throttle_count: 2 }",
       "file:3: throttle_count is set twice"},
      {"capsule a { match: service:x\n resident_count_max: many }", "file:2: resident_count_max"},
      {"capsule a { match: service:x bypass_share: nan }", "bypass_share: 'nan' is not a number"},
      {"\ncapsule a { }", "file:2: capsule 'a': it has no match rule"},
      {"capsule a { match: service:x match: disk:/x }", "has a different type"},
      {"capsule a { match: service:x }\ncapsule a { match: service:x }",
       "file:2: capsule 'a' is defined twice"},
      {"capsule a/b { match: service:x }", "may contain only letters, digits"},
      {"capsule a { match: service:x low_watermark: 5 high_watermark: 5 }", "is not greater than"},
      {"capsule a { match: service:x timeout_ms: none high_watermark: 5 }", "timeout_ms is none"},
      {"capsule a { match: service:x resident_count_max: 5 throttle_count: 6 }", "exceeds"},
      {"capsule a { match: service:x policy: random }", "'random' is not fifo"},
      {"capsule a { match: service:x policy: priority }", "needs at least one class"},
      {"capsule a { match: service:x policy: plugin }", "needs a library"},
      {"capsule a { match: service:x library: x.so }", "cannot have one"},
      {"capsule a { match: service:x migrate_to: a }", "migrates to itself"},
      {"capsule a { match: disk:/x processing_count_max: 5000 }", "at most 1024 helper threads"},
      {"capsule default { match: service:x }", "cannot have rules"},
  };
  for (const auto& [text, said] : cases) {
    const Status status = Parse(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_NE(ToStd(status.message()).find(said), std::string_view::npos)
        << status << "\nfor " << text;
  }
  EXPECT_FALSE(Parse(std::string(kCapsuleTextSizeMax + 1, ' ')).ok());
}

TEST(CapsuleTextTest, RulesThatShadowOrOverlapAreWarnedOf) {
  std::vector<std::string> warnings;
  ASSERT_TRUE(ParseCapsules("capsule rack {\n match: inet:10.0.0.0/8 }\n"
                            "capsule one {\n match: inet:10.1.2.3:80\n match: service:x }\n"
                            "capsule redis {\n match: inet:*:6379 }\n",
                            {"file"}, &warnings)
                  .ok());
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "file:4: capsule 'one': rule 'inet:10.1.2.3:80' is shadowed by "
                          "'inet:10.0.0.0/8' of capsule 'rack' above it",
                          "file:7: capsule 'redis': rule 'inet:*:6379' overlaps "
                          "'inet:10.0.0.0/8' of capsule 'rack' above it"}));
}

TEST(CapsuleTextTest, ASpecialCaseAboveItsRuleIsNoConflict) {
  std::vector<std::string> warnings;
  ASSERT_TRUE(ParseCapsules("capsule one { match: service:index/1 }\n"
                            "capsule all { match: service:index }\n",
                            {"file"}, &warnings)
                  .ok());
  EXPECT_EQ(warnings, std::vector<std::string>());
}

TEST(CapsuleTextTest, RelativeLibrariesAreResolvedAgainstTheFilesFolder) {
  const std::string folder = std::getenv("TEST_TMPDIR");
  const std::string path = folder + "/capsules.conf";
  ASSERT_TRUE(
      WriteFileAtomically(path, "capsule a { match: service:x policy: plugin library: p.so }")
          .ok());
  const auto configs = LoadCapsuleFile(path, nullptr);
  ASSERT_TRUE(configs.ok()) << configs.status();
  EXPECT_EQ(configs->front().policy.library, folder + "/p.so");
  ASSERT_TRUE(WriteFileAtomically(path, "\n\n}").ok());
  const Status status = LoadCapsuleFile(path, nullptr).status();
  EXPECT_TRUE(ToStd(status.message()).starts_with(path + ":3: ")) << status;
  EXPECT_EQ(LoadCapsuleFile(folder + "/absent", nullptr).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace neptune
