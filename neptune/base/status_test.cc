#include "neptune/base/status.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

StatusOr<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgument("odd value ", value);
  return value / 2;
}

StatusOr<int> Quarter(int value) {
  NEPTUNE_ASSIGN_OR_RETURN(const int half, Half(value));
  NEPTUNE_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

TEST(StatusTest, AssignOrReturnPassesValueAndError) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status(), InvalidArgument("odd value 3"));
}

TEST(StatusTest, AnnotateKeepsCodeAndPayload) {
  Status status = Unavailable("no replica");
  status.SetPayload("primary", absl::Cord("n1"));
  const Status annotated = Annotate(status, "call tier1/2");
  EXPECT_EQ(annotated.code(), StatusCode::kUnavailable);
  EXPECT_EQ(annotated.message(), "call tier1/2: no replica");
  EXPECT_EQ(annotated.GetPayload("primary"), absl::Cord("n1"));
  EXPECT_TRUE(Annotate(OkStatus(), "anything").ok());
}

}  // namespace
}  // namespace neptune
