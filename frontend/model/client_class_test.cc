#include "frontend/model/client_class.h"

#include <gtest/gtest.h>

#include "neptune/base/same_secret.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::StatusCode;

constexpr char kKey[] = "gold-key-of-a-test";

ClientClasses Classes(bool trusts_header = false, bool requires_key = false) {
  neptune::SchedulerOptions scheduling;
  scheduling.classes = {{.name = "gold"}, {.name = "batch"}, {.name = "bronze"}};
  scheduling.default_class = 2;
  return {scheduling,
          {{neptune::ApiKeyHash(kKey), "gold"}},
          {.trusts_header = trusts_header, .requires_key = requires_key}};
}

HttpRequest With(std::string_view header, std::string_view value) {
  HttpRequest request;
  request.headers.Set(header, value);
  return request;
}

TEST(ClientClassTest, AKeyIsTheClass) {
  const auto found = Classes().Of(With("X-Api-Key", kKey));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->number, 0u);
  EXPECT_EQ(found->name, "gold");
}

TEST(ClientClassTest, UnknownKeysAreRefused) {
  HttpRequest request = With("X-Api-Key", "gold-key-of-a-tesT");
  request.headers.Set("Neptune-Service-Class", "batch");
  EXPECT_EQ(Classes(true).Of(request).status().code(), StatusCode::kUnauthenticated);
}

TEST(ClientClassTest, ARequiredKeyIsRequiredOfEveryone) {
  const ClientClasses classes = Classes(/*trusts_header=*/true, /*requires_key=*/true);
  EXPECT_EQ(classes.Of(HttpRequest()).status().code(), StatusCode::kUnauthenticated);
  EXPECT_EQ(classes.Of(With("X-Api-Key", "")).status().code(), StatusCode::kUnauthenticated);
  EXPECT_EQ(classes.Of(With("Neptune-Service-Class", "batch")).status().code(),
            StatusCode::kUnauthenticated);
  EXPECT_TRUE(classes.Of(With("X-Api-Key", kKey)).ok());
}

TEST(ClientClassTest, AnyClientMayNameAClassWithoutKeys) {
  const auto found = Classes().Of(With("Neptune-Service-Class", "batch"));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->number, 1u);
}

TEST(ClientClassTest, AClassWithKeysIsNotUnlessTheHeaderIsTrusted) {
  const HttpRequest request = With("Neptune-Service-Class", "gold");
  EXPECT_EQ(Classes().Of(request).status().code(), StatusCode::kPermissionDenied);
  const auto trusted = Classes(true).Of(request);
  ASSERT_TRUE(trusted.ok()) << trusted.status();
  EXPECT_EQ(trusted->number, 0u);
}

TEST(ClientClassTest, NoClassAndUnknownClassesAreTheDefault) {
  EXPECT_EQ(Classes().Of(HttpRequest())->number, 2u);
  EXPECT_EQ(Classes().Of(With("Neptune-Service-Class", "platinum"))->number, 2u);
  EXPECT_EQ(Classes().Of(With("Neptune-Service-Class", "a b")).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Classes().Of(With("Neptune-Service-Class", std::string(33, 'a'))).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(ClientClassTest, KeysThatEveryoneKnowsAreRefused) {
  EXPECT_TRUE(CheckDemonstrationKeys({{neptune::ApiKeyHash(kKey), "gold"}}).ok());
  const auto status = CheckDemonstrationKeys({{neptune::ApiKeyHash("silver-demo-key"), "silver"}});
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("'silver'"), absl::string_view::npos) << status;
}

// The specs for a laptop have just these keys.
TEST(ClientClassTest, TheKeysOfTheShippedSpecsAreThese) {
  EXPECT_EQ(neptune::ApiKeyHash("gold-demo-key"),
            "060728a670386202948ca2005522dddfccada3a6b67658182fea68e4fa1055ef");
  EXPECT_EQ(neptune::ApiKeyHash("silver-demo-key"),
            "da97a04d2045c07d2a9edf14c579f819223f8586273a7ed4c7cb4bb27daeaec6");
}

}  // namespace
}  // namespace search::frontend
