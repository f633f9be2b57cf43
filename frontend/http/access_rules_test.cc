#include "frontend/http/access_rules.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace search::frontend {
namespace {

using neptune::HttpGlance;
using neptune::HttpHeaders;
using neptune::HttpRequest;

constexpr uint32_t kHere = neptune::kLoopbackAddress;
constexpr uint32_t kElsewhere = 0x0a000001;
constexpr char kToken[] = "0123456789abcdef";
constexpr char kOther[] = "fedcba9876543210";

HttpRequest From(uint32_t address, const HttpHeaders& headers = {}) {
  HttpRequest request;
  request.peer.address = address;
  for (const auto& [name, value] : headers) request.headers.Add(name, value);
  if (!request.headers.Has("Host")) request.headers.Add("Host", "127.0.0.1:8080");
  return request;
}

std::string Bearer(const std::string& token) { return "Bearer " + token; }

Access Pages(const AccessOptions& options, const HttpRequest& request) {
  return AccessRules(options).OfPages(AccessAskOf(request));
}

Access Changes(const AccessOptions& options, const HttpRequest& request) {
  return AccessRules(options).OfChanges(AccessAskOf(request));
}

TEST(AccessRulesTest, ClientsOnThisMachineNeedNoToken) {
  for (const uint32_t address : {kHere, kHere + 5}) {
    EXPECT_EQ(Pages({}, From(address)), Access::kGranted);
    EXPECT_EQ(Changes({}, From(address)), Access::kGranted);
  }
}

TEST(AccessRulesTest, OthersGetTheReason) {
  const AccessRules rules({});
  const auto page = rules.RefusePage(From(kElsewhere));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 403);
  EXPECT_NE(page->body.find("operator_token_file"), std::string::npos) << page->body;
  EXPECT_EQ(page->headers.Get("Cache-Control"), "no-store");
  const auto change = rules.RefuseChange(From(kElsewhere));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->status, 403);
  EXPECT_NE(change->body.find("document_token_file"), std::string::npos) << change->body;
}

TEST(AccessRulesTest, ProxiedClientsAreRemote) {
  for (const char* header : {"X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Proto",
                             "X-Forwarded-Anything", "Forwarded", "Via", "X-Real-IP"}) {
    for (const char* value : {"127.0.0.1", ""}) {
      const HttpRequest request = From(kHere, {{header, value}});
      EXPECT_EQ(Pages({}, request), Access::kRemote) << header;
      EXPECT_EQ(Changes({}, request), Access::kRemote) << header;
    }
  }
  EXPECT_EQ(Pages({}, From(kHere, {{"X-Forwarded", "x"}})), Access::kGranted);
}

TEST(AccessRulesTest, AClientHereMustAskForThisMachine) {
  const AccessOptions options{.own_host = "search.test"};
  for (const char* host :
       {"localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:65535", "127.3.2.1:1", "[::1]",
        "[::1]:8080", "search.test", "Search.Test:8080"}) {
    const HttpRequest request = From(kHere, {{"Host", host}});
    EXPECT_EQ(Pages(options, request), Access::kGranted) << host;
    EXPECT_EQ(Changes(options, request), Access::kGranted) << host;
  }
  for (const char* host :
       {"attacker.test", "127.0.0.1.attacker.test", "localhost.attacker.test", "", ":80", "[::1",
        "[::1]x", "10.0.0.1:8080", "127.0.0.1:x", "128.0.0.1", "127.0.0.1@attacker.test"}) {
    const HttpRequest request = From(kHere, {{"Host", host}});
    EXPECT_EQ(Pages(options, request), Access::kForeignHost) << host;
    EXPECT_EQ(Changes(options, request), Access::kForeignHost) << host;
  }
  EXPECT_EQ(Pages({}, From(kHere, {{"Host", "search.test"}})), Access::kForeignHost);
  const auto refusal = AccessRules({}).RefusePage(From(kHere, {{"Host", "attacker.test"}}));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 421);
  HttpRequest without_host;
  without_host.peer.address = kHere;
  EXPECT_EQ(Changes({}, without_host), Access::kForeignHost);
}

TEST(AccessRulesTest, PagesOfOtherSitesAreRefusedWithATokenToo) {
  const AccessOptions options{.operator_token = kToken, .document_token = kToken};
  for (const char* site : {"cross-site", "same-site", "something-new"}) {
    const HttpRequest request = From(kHere, {{"Sec-Fetch-Site", site}});
    EXPECT_EQ(Pages({}, request), Access::kOtherSite) << site;
    EXPECT_EQ(Changes({}, request), Access::kOtherSite) << site;
    EXPECT_EQ(Pages({.pages_for_anyone = true}, request), Access::kOtherSite) << site;
    const HttpRequest with_token =
        From(kHere, {{"Sec-Fetch-Site", site}, {"Authorization", Bearer(kToken)}});
    EXPECT_EQ(Pages(options, with_token), Access::kOtherSite) << site;
    EXPECT_EQ(Changes(options, with_token), Access::kOtherSite) << site;
  }
  for (const char* site : {"same-origin", "none"}) {
    EXPECT_EQ(Pages({}, From(kHere, {{"Sec-Fetch-Site", site}})), Access::kGranted) << site;
    EXPECT_EQ(Changes({}, From(kHere, {{"Sec-Fetch-Site", site}})), Access::kGranted) << site;
  }
}

TEST(AccessRulesTest, ChangesOfAnotherOriginAreRefused) {
  const auto from_page = [](const char* origin) {
    return Changes({}, From(kHere, {{"Host", "localhost:8080"}, {"Origin", origin}}));
  };
  EXPECT_EQ(from_page("http://localhost:8080"), Access::kGranted);
  EXPECT_EQ(from_page("https://localhost:8080"), Access::kGranted);
  for (const char* origin : {"http://attacker.test", "http://localhost:8081", "http://localhost",
                             "null", "", "localhost:8080", "file://localhost:8080"}) {
    EXPECT_EQ(from_page(origin), Access::kOtherSite) << origin;
  }
}

TEST(AccessRulesTest, ATokenIsAllThatCountsOnceItIsSet) {
  const AccessOptions options{.operator_token = kToken, .document_token = kOther};
  EXPECT_EQ(Pages(options, From(kHere)), Access::kNeedsToken);
  EXPECT_EQ(Changes(options, From(kHere)), Access::kNeedsToken);
  const auto with = [](const std::string& value) {
    return From(kElsewhere, {{"Host", "search.test"}, {"Authorization", value}, {"Via", "1.1 x"}});
  };
  EXPECT_EQ(Pages(options, with(Bearer(kToken))), Access::kGranted);
  EXPECT_EQ(Changes(options, with(Bearer(kOther))), Access::kGranted);
  EXPECT_EQ(Pages(options, with(Bearer(kOther))), Access::kNeedsToken) << "of another door";
  EXPECT_EQ(Changes(options, with(Bearer(kToken))), Access::kNeedsToken);
  for (const std::string& wrong :
       {std::string(kToken), std::string("Bearer "), "Basic " + std::string(kToken), std::string(),
        Bearer(kToken) + kToken, Bearer("0123456789abcdeg")}) {
    EXPECT_EQ(Pages(options, with(wrong)), Access::kNeedsToken) << wrong;
  }
  const auto refusal = AccessRules(options).RefuseChange(From(kHere));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 401);
  EXPECT_EQ(refusal->headers.Get("WWW-Authenticate"), "Bearer realm=\"documents\"");
  EXPECT_NE(refusal->body.find("document_token_file"), std::string::npos) << refusal->body;
  EXPECT_EQ(refusal->body.find(kOther), std::string::npos);
}

TEST(AccessRulesTest, WithoutATokenNoTokenIsAccepted) {
  const HttpRequest request = From(kElsewhere, {{"Authorization", "Bearer "}});
  EXPECT_EQ(Pages({}, request), Access::kRemote);
  EXPECT_EQ(Changes({}, request), Access::kRemote);
}

TEST(AccessRulesTest, AnyoneMaySeePagesButNotChangeDocuments) {
  const AccessOptions options{.pages_for_anyone = true};
  EXPECT_EQ(Pages(options, From(kElsewhere)), Access::kGranted);
  EXPECT_EQ(Changes(options, From(kElsewhere)), Access::kRemote);
}

TEST(AccessRulesTest, StatusIsForOperatorsUnlessItIsPublic) {
  const AccessAsk stranger = AccessAskOf(From(kElsewhere));
  EXPECT_FALSE(AccessRules({}).MaySeeStatus(stranger));
  EXPECT_TRUE(AccessRules({}).MaySeeStatus(AccessAskOf(From(kHere))));
  EXPECT_TRUE(AccessRules({.public_status = true}).MaySeeStatus(stranger));
  EXPECT_FALSE(AccessRules({.public_status = true}).IsOperator(stranger));
}

TEST(AccessRulesTest, AGlanceAtARequestTellsTheSame) {
  HttpGlance glance;
  glance.peer.address = kHere;
  glance.headers[glance.header_count++] = {"host", "localhost"};
  EXPECT_TRUE(AccessRules({}).IsOperator(AccessAskOf(glance)));
  glance.headers[glance.header_count++] = {"VIA", "1.1 proxy"};
  EXPECT_FALSE(AccessRules({}).IsOperator(AccessAskOf(glance)));
}

}  // namespace
}  // namespace search::frontend
