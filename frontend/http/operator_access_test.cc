#include "frontend/http/operator_access.h"

#include <gtest/gtest.h>

namespace search::frontend {
namespace {

using neptune::HttpRequest;

constexpr uint32_t kElsewhere = 0x0a000001;
constexpr char kToken[] = "0123456789abcdef";

HttpRequest From(uint32_t address) {
  HttpRequest request;
  request.peer.address = address;
  return request;
}

HttpRequest With(uint32_t address, const char* header, const std::string& value) {
  HttpRequest request = From(address);
  request.headers.Add(header, value);
  return request;
}

TEST(OperatorAccessTest, LoopbackClientsAreAllowedAndOthersGetTheReason) {
  const OperatorAccess access({});
  EXPECT_FALSE(access.Refuse(From(neptune::kLoopbackAddress)));
  EXPECT_FALSE(access.Refuse(From(neptune::kLoopbackAddress + 5)));
  const auto refusal = access.Refuse(From(kElsewhere));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 403);
  EXPECT_NE(refusal->body.find("operator_pages"), std::string::npos) << refusal->body;
}

TEST(OperatorAccessTest, ProxiedClientsAreRemote) {
  const OperatorAccess access({});
  for (const char* header : {"X-Forwarded-For", "Forwarded"}) {
    EXPECT_TRUE(access.Refuse(With(neptune::kLoopbackAddress, header, "127.0.0.1"))) << header;
    EXPECT_TRUE(access.Refuse(With(neptune::kLoopbackAddress, header, ""))) << header;
  }
}

TEST(OperatorAccessTest, TheTokenAllowsAccessFromAnywhere) {
  const OperatorAccess access({.token = kToken});
  const auto with = [](const std::string& value) {
    return With(kElsewhere, "Authorization", value);
  };
  EXPECT_FALSE(access.Refuse(with(std::string("Bearer ") + kToken)));
  for (const std::string& wrong :
       {std::string(kToken), std::string("Bearer "), std::string("Basic ") + kToken,
        std::string("Bearer ") + kToken + kToken, std::string("Bearer 0123456789abcdeg")}) {
    EXPECT_TRUE(access.Refuse(with(wrong))) << wrong;
  }
}

TEST(OperatorAccessTest, WithoutATokenNoTokenIsAccepted) {
  EXPECT_TRUE(OperatorAccess({}).Refuse(With(kElsewhere, "Authorization", "Bearer ")));
}

TEST(OperatorAccessTest, AnyoneIsAllowedIfConfigured) {
  EXPECT_FALSE(OperatorAccess({.anyone = true}).Refuse(From(kElsewhere)));
}

}  // namespace
}  // namespace search::frontend
