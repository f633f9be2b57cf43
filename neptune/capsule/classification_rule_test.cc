// Operations that each form of rule matches, and malformed rules.

#include "neptune/capsule/classification_rule.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr uint32_t Address(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

bool Takes(const char* rule, const BlockingOperation& operation) {
  const auto parsed = ClassificationRule::Parse(rule);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() && parsed->Matches(operation);
}

NetworkOperation Peer(uint32_t address, uint16_t port) {
  return {.address = address, .port = port};
}

TEST(ClassificationRuleTest, NetworkTakesItsAddresses) {
  EXPECT_TRUE(Takes("inet:192.168.1.0/24", Peer(Address(192, 168, 1, 77), 80)));
  EXPECT_FALSE(Takes("inet:192.168.1.0/24", Peer(Address(192, 168, 2, 77), 80)));
  EXPECT_TRUE(Takes("inet:0.0.0.0/0", Peer(Address(8, 8, 8, 8), 80)));
  EXPECT_TRUE(Takes("inet:10.0.0.7/32", Peer(Address(10, 0, 0, 7), 80)));
  EXPECT_FALSE(Takes("inet:10.0.0.7", Peer(Address(10, 0, 0, 8), 80)));
}

TEST(ClassificationRuleTest, PortNarrowsARule) {
  EXPECT_TRUE(Takes("inet:10.0.0.7:5432", Peer(Address(10, 0, 0, 7), 5432)));
  EXPECT_FALSE(Takes("inet:10.0.0.7:5432", Peer(Address(10, 0, 0, 7), 5433)));
  EXPECT_TRUE(Takes("inet:10.0.0.0/8:6379", Peer(Address(10, 1, 2, 3), 6379)));
  EXPECT_TRUE(Takes("inet:*:6379", Peer(Address(1, 2, 3, 4), 6379)));
  EXPECT_FALSE(Takes("inet:*:6379", Peer(Address(1, 2, 3, 4), 80)));
}

TEST(ClassificationRuleTest, HostIsTakenByItsName) {
  NetworkOperation operation = Peer(Address(1, 2, 3, 4), 5432);
  operation.host = "db.example.org";
  EXPECT_TRUE(Takes("inet:db.example.org", operation));
  EXPECT_TRUE(Takes("inet:db.example.org:5432", operation));
  EXPECT_FALSE(Takes("inet:db.example.org:5433", operation));
  EXPECT_FALSE(Takes("inet:other.example.org", operation));
  operation.host = "DB.example.org";
  EXPECT_TRUE(Takes("inet:db.Example.org", operation)) << "host names are case-insensitive";
}

TEST(ClassificationRuleTest, ServiceTakesItsPartitions) {
  NetworkOperation operation;
  operation.service = "index";
  operation.partition = PartitionId(3);
  EXPECT_TRUE(Takes("service:index", operation));
  EXPECT_TRUE(Takes("service:index/3", operation));
  EXPECT_FALSE(Takes("service:index/4", operation));
  EXPECT_FALSE(Takes("service:cache", operation));
  EXPECT_FALSE(Takes("service:index", Peer(Address(1, 2, 3, 4), 80)));
}

TEST(ClassificationRuleTest, DiskTakesPathsByPattern) {
  EXPECT_TRUE(Takes("disk:/dev/sd[ab]", DeviceOperation{"/dev/sda"}));
  EXPECT_FALSE(Takes("disk:/dev/sd[ab]", DeviceOperation{"/dev/sdc"}));
  EXPECT_FALSE(Takes("disk:/dev/sd[ab]", DeviceOperation{"/dev/sda1"}));
  EXPECT_TRUE(Takes("disk:/var/lib/store/**", DeviceOperation{"/var/lib/store/a/b/c.sst"}));
  EXPECT_FALSE(Takes("disk:/var/lib/store/**", DeviceOperation{"/var/lib/other"}));
  EXPECT_FALSE(Takes("disk:/var/*/x", DeviceOperation{"/var/a/b/x"}));
  EXPECT_FALSE(Takes("inet:0.0.0.0/0", DeviceOperation{"/dev/sda"}));
}

TEST(ClassificationRuleTest, PatternsOfPaths) {
  EXPECT_TRUE(PathMatches("/a/?/[!x-z]*", "/a/b/hello"));
  EXPECT_FALSE(PathMatches("/a/?/[!x-z]*", "/a/b/yes"));
  EXPECT_FALSE(PathMatches("/a?b", "/a/b"));
  EXPECT_TRUE(PathMatches("/**/c", "/a/b/c"));
  EXPECT_TRUE(PathMatches("**", "/anything/at/all"));
  EXPECT_TRUE(PathMatches("/a/**", "/a/b"));
  EXPECT_TRUE(PathMatches("/a/**", "/a/"));
  EXPECT_FALSE(PathMatches("/a/**", "/a"));
  EXPECT_FALSE(PathMatches("/a/**", "/ab/c"));
  EXPECT_TRUE(PathMatches("/a/b", "/a/b"));
  EXPECT_FALSE(PathMatches("/a/b", "/a/b/c"));
  EXPECT_TRUE(PathMatches("/[]]", "/]"));
  EXPECT_FALSE(PathMatches("/[ab", "/a"));
  // A pattern with exponential cost in a backtracking matcher.
  EXPECT_FALSE(PathMatches("/" + std::string(40, '*') + "b", "/" + std::string(2000, 'a')));
}

TEST(ClassificationRuleTest, MalformedRulesSayWhatIsWrong) {
  const struct {
    const char* rule;
    const char* said;
  } cases[] = {
      {"", "expected inet, service or disk"},
      {"192.168.1.0/24", "expected inet, service or disk"},
      {"inet:192.168.1.0/33", "is not a network"},
      {"inet:192.168.1.7/24", "has bits set after"},
      {"inet:1.2.3/8", "is not a network"},
      {"inet:10.0.0.7:99999", "is not a port"},
      {"inet:10.0.0.7:0", "is not a port"},
      {"inet:bad host", "neither an address nor a host name"},
      {"inet:10.0.0.300:6379", "neither an address nor a host name"},
      {"inet:1.2.3.4.5", "neither an address nor a host name"},
      {"service:x@", "expected a node name"},
      {"service:", "expected a service name"},
      {"service:index/x", "is not a partition number"},
      {"disk:relative", "not an absolute path"},
      {"disk:/dev/sd[ab", "unterminated '['"},
  };
  for (const auto& [rule, said] : cases) {
    const Status status = ClassificationRule::Parse(rule).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << rule;
    EXPECT_NE(ToStd(status.message()).find(said), std::string_view::npos) << status;
  }
  EXPECT_FALSE(ClassificationRule::Parse("disk:/" + std::string(kRuleSizeMax, 'x')).ok());
}

TEST(ClassificationRuleTest, WiderRuleCoversANarrowerOne) {
  const auto covers = [](const char* wide, const char* narrow) {
    return ClassificationRule::Parse(wide)->Covers(*ClassificationRule::Parse(narrow));
  };
  EXPECT_TRUE(covers("inet:10.0.0.0/8", "inet:10.1.0.0/16"));
  EXPECT_TRUE(covers("inet:10.0.0.0/8", "inet:10.1.2.3:80"));
  EXPECT_FALSE(covers("inet:10.1.0.0/16", "inet:10.0.0.0/8"));
  EXPECT_FALSE(covers("inet:*:80", "inet:10.1.2.3"));
  EXPECT_TRUE(covers("inet:*", "service:index"));
  EXPECT_TRUE(covers("inet:*:80", "inet:db.example.org:80"));
  EXPECT_FALSE(covers("inet:*:80", "inet:db.example.org"));
  EXPECT_TRUE(covers("inet:db.example.org", "inet:DB.example.org:80"));
  EXPECT_TRUE(covers("service:index", "service:index/3"));
  EXPECT_FALSE(covers("service:index/3", "service:index"));
  EXPECT_TRUE(covers("service:index/3", "service:index/3@a"));
  EXPECT_FALSE(covers("service:index/3@a", "service:index/3"));
  EXPECT_TRUE(covers("disk:/var/**", "disk:/var/lib/x"));
  EXPECT_FALSE(covers("disk:/var/**", "inet:*"));
  EXPECT_TRUE(covers("disk:/var/*", "disk:/var/*"));
}

TEST(ClassificationRuleTest, AReplicaIsAServiceOnItsNode) {
  const auto rule = *ClassificationRule::Parse("service:index/3@store-1");
  EXPECT_TRUE(rule.Matches(
      NetworkOperation{.service = "index", .partition = PartitionId(3), .node = "store-1"}));
  EXPECT_FALSE(rule.Matches(
      NetworkOperation{.service = "index", .partition = PartitionId(3), .node = "store-2"}));
  EXPECT_FALSE(rule.Matches(NetworkOperation{.service = "index", .partition = PartitionId(3)}));
}

TEST(ClassificationRuleTest, RulesOverlapWhereAnOperationFitsBoth) {
  const auto overlap = [](const char* one, const char* other) {
    const auto a = *ClassificationRule::Parse(one);
    const auto b = *ClassificationRule::Parse(other);
    EXPECT_EQ(a.Overlaps(b), b.Overlaps(a)) << one << " and " << other;
    return a.Overlaps(b);
  };
  EXPECT_TRUE(overlap("inet:10.0.0.0/8", "inet:10.1.0.0/16"));
  EXPECT_TRUE(overlap("inet:10.0.0.0/8", "inet:*:6379"));
  EXPECT_FALSE(overlap("inet:10.0.0.0/8:80", "inet:*:6379"));
  EXPECT_FALSE(overlap("inet:10.0.0.0/8", "inet:11.0.0.0/8"));
  EXPECT_TRUE(overlap("inet:*:80", "inet:db.example.org"));
  EXPECT_FALSE(overlap("inet:*:80", "inet:db.example.org:81"));
  EXPECT_FALSE(overlap("inet:10.0.0.0/8", "inet:db.example.org"));
  EXPECT_TRUE(overlap("service:index", "service:index/3"));
  EXPECT_FALSE(overlap("service:index/2", "service:index/3"));
  EXPECT_TRUE(overlap("service:index/2", "service:index@a"));
  EXPECT_FALSE(overlap("service:index@b", "service:index@a"));
  EXPECT_TRUE(overlap("disk:/var/*/x", "disk:/var/a/*"));
  EXPECT_TRUE(overlap("disk:/dev/sd[ab]", "disk:/dev/sd[b-d]"));
  EXPECT_FALSE(overlap("disk:/dev/sd[ab]", "disk:/dev/sd[cd]"));
  EXPECT_FALSE(overlap("disk:/var/*", "disk:/var/a/*"));
  EXPECT_TRUE(overlap("disk:/var/**", "disk:/**/x"));
}

TEST(ClassificationRuleTest, ARuleOfOneAddressAndPortNamesItsPeer) {
  const auto peer = [](const char* rule) { return ClassificationRule::Parse(rule)->peer(); };
  EXPECT_EQ(peer("inet:10.0.0.7:5432"), (PeerAddress{0x0a000007, 5432}));
  EXPECT_EQ(peer("inet:10.0.0.7"), std::nullopt);
  EXPECT_EQ(peer("inet:10.0.0.0/24:80"), std::nullopt);
  EXPECT_EQ(peer("inet:db:80"), std::nullopt);
}

}  // namespace
}  // namespace neptune
