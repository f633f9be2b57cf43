#include "neptune/admin/admin_access.h"

#include <gtest/gtest.h>

#include "neptune/world/network.h"

namespace neptune {
namespace {

constexpr uint32_t kOwn = 0x0a000001;
constexpr uint32_t kMember = 0x0a000002;
constexpr uint32_t kStranger = 0x0a000003;
constexpr char kToken[] = "0123456789abcdef";
constexpr int kGranted = 0;

HttpRequest From(uint32_t address, const HttpHeaders& headers = {{"Host", "10.0.0.1:9100"}}) {
  HttpRequest request;
  request.peer.address = address;
  request.headers = headers;
  return request;
}

class AdminAccessTest : public testing::Test {
 protected:
  static AdminAccessOptions Options() {
    return {.token = kToken, .own_address = kOwn, .is_member = [](uint32_t address) {
              return address == kMember;
            }};
  }
  // The status of the refusal, or kGranted.
  static int Status(const AdminAccess& access, const HttpRequest& request, AdminNeed need) {
    const auto refused = access.Refuse(request, need);
    return refused ? refused->response.status : kGranted;
  }
  int Status(const HttpRequest& request, AdminNeed need) { return Status(access_, request, need); }

  const AdminAccess access_{Options()};
};

TEST_F(AdminAccessTest, AddressesDecideWithoutAToken) {
  const struct {
    uint32_t address;
    int read;
    int profile;
  } cases[] = {{kLoopbackAddress, kGranted, kGranted},
               {kLoopbackAddress + 10, kGranted, kGranted},
               {kOwn, kGranted, kGranted},
               {kMember, kGranted, 403},
               {kStranger, 403, 403}};
  for (const auto& one : cases) {
    EXPECT_EQ(Status(From(one.address), AdminNeed::kNothing), kGranted) << one.address;
    EXPECT_EQ(Status(From(one.address), AdminNeed::kRead), one.read) << one.address;
    EXPECT_EQ(Status(From(one.address), AdminNeed::kProfile), one.profile) << one.address;
    EXPECT_EQ(Status(From(one.address), AdminNeed::kChange), 401) << one.address;
  }
}

TEST_F(AdminAccessTest, ATokenCountsFromThisMachineAndOverTls) {
  const HttpHeaders headers = {{"Authorization", "Bearer 0123456789abcdef"}};
  for (const AdminNeed need : {AdminNeed::kRead, AdminNeed::kProfile, AdminNeed::kChange}) {
    EXPECT_EQ(Status(From(kLoopbackAddress, headers), need), kGranted);
    EXPECT_EQ(Status(From(kOwn, headers), need), kGranted);
    for (const uint32_t remote : {kMember, kStranger}) {
      const auto refused = access_.Refuse(From(remote, headers), need);
      ASSERT_TRUE(refused);
      EXPECT_EQ(refused->reason, AdminRefusal::kClear);
    }
  }
  HttpRequest secret = From(kStranger, headers);
  secret.is_encrypted = true;
  for (const AdminNeed need : {AdminNeed::kRead, AdminNeed::kProfile, AdminNeed::kChange}) {
    EXPECT_EQ(Status(secret, need), kGranted);
  }
  for (const char* const wrong :
       {"Bearer 0123456789abcdeX", "Bearer ", "Basic 0123456789abcdef", ""}) {
    EXPECT_EQ(Status(From(kOwn, {{"Authorization", wrong}}), AdminNeed::kChange), 401) << wrong;
    EXPECT_EQ(Status(From(kOwn, {{"Authorization", wrong}}), AdminNeed::kRead), 401) << wrong;
  }
}

TEST_F(AdminAccessTest, ANodeWithoutATokenRefusesChanges) {
  const AdminAccess access({.own_address = kOwn});
  for (const char* const given : {"", "Bearer ", "Bearer x"}) {
    EXPECT_EQ(Status(access, From(kOwn, {{"Authorization", given}}), AdminNeed::kChange), 403);
  }
  EXPECT_EQ(Status(access, From(kOwn), AdminNeed::kRead), kGranted);
  EXPECT_EQ(Status(access, From(kMember), AdminNeed::kRead), 403);
}

TEST_F(AdminAccessTest, PagesOfOtherSitesGetNothing) {
  for (const char* const site : {"cross-site", "same-site", "x"}) {
    const HttpHeaders headers = {{"Host", "127.0.0.1:9100"},
                                 {"Sec-Fetch-Site", site},
                                 {"Authorization", "Bearer 0123456789abcdef"}};
    EXPECT_EQ(Status(From(kOwn, headers), AdminNeed::kRead), 403) << site;
    EXPECT_EQ(Status(From(kOwn, headers), AdminNeed::kChange), 403) << site;
  }
  for (const char* const site : {"none", "same-origin"}) {
    EXPECT_EQ(Status(From(kOwn, {{"Sec-Fetch-Site", site}}), AdminNeed::kRead), kGranted) << site;
  }
}

TEST_F(AdminAccessTest, NamesOfOthersAndProxiesAreRefused) {
  for (const uint32_t address : {kLoopbackAddress, kOwn, kMember}) {
    EXPECT_EQ(Status(From(address, {{"Host", "evil.example"}}), AdminNeed::kRead), 421);
    EXPECT_EQ(Status(From(address, {{"Host", "localhost:1"}}), AdminNeed::kRead), kGranted);
    EXPECT_EQ(Status(From(address, {}), AdminNeed::kRead), kGranted) << "HTTP/1.0";
    for (const char* const name :
         {"X-Forwarded-For", "x-forwarded-host", "Forwarded", "Via", "X-Real-IP"}) {
      EXPECT_EQ(Status(From(address, {{name, "1"}}), AdminNeed::kRead), 403) << name;
    }
  }
}

TEST_F(AdminAccessTest, ATrustedNetworkSeesAllAndSendsTokens) {
  AdminAccessOptions options = Options();
  options.for_network = true;
  const AdminAccess access(std::move(options));
  const HttpHeaders named = {{"Host", "node.example"}};
  EXPECT_EQ(Status(access, From(kStranger, named), AdminNeed::kRead), kGranted);
  EXPECT_EQ(Status(access, From(kStranger, named), AdminNeed::kProfile), kGranted);
  EXPECT_EQ(Status(access, From(kStranger, named), AdminNeed::kChange), 401);
  EXPECT_EQ(Status(access, From(kStranger, {{"Authorization", "Bearer 0123456789abcdef"}}),
                   AdminNeed::kChange),
            kGranted);
  EXPECT_EQ(Status(access, From(kStranger, {{"Sec-Fetch-Site", "cross-site"}}), AdminNeed::kRead),
            403);
}

}  // namespace
}  // namespace neptune
