#include "neptune/mtrr/class_kinds.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

ClassKind Kind(const char* name, double rate, double alpha, int saturation,
               std::optional<double> processor_s = {}) {
  return {name, rate, *Speedup::Make(alpha, saturation), processor_s};
}

TEST(ClassKindsTest, ClassesOfOneKindDoNotDiffer) {
  EXPECT_TRUE(DifferentKinds({Kind("gold", 50, 0.14, 23, 0.02), Kind("silver", 52, 0.15, 22, 0.021),
                              Kind("bronze", 48, 0.14, 24, 0.019)})
                  .empty());
  EXPECT_TRUE(DifferentKinds({Kind("gold", 50, 0.14, 23)}).empty());
  EXPECT_TRUE(DifferentKinds({}).empty());
}

TEST(ClassKindsTest, OtherServiceTimesAreAnotherKind) {
  const auto found = DifferentKinds({Kind("web", 50, 0, 1), Kind("files", 20, 0, 1)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].one, "web");
  EXPECT_EQ(found[0].other, "files");
  EXPECT_EQ(found[0].of, "throughput");
  EXPECT_DOUBLE_EQ(found[0].factor, 2.5);
}

TEST(ClassKindsTest, OtherSpeedupsAreAnotherKindAtEqualSingleThreadRates) {
  const auto found = DifferentKinds({Kind("processor", 50, 0, 1), Kind("disk", 50, 0.5, 9)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_DOUBLE_EQ(found[0].factor, 5);
}

TEST(ClassKindsTest, EqualTimesOnDifferentResourcesAreAnotherKind) {
  const auto found =
      DifferentKinds({Kind("compute", 50, 0, 1, 0.019), Kind("read", 50, 0, 1, 0.002)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].of, "processor time");
  EXPECT_NEAR(found[0].factor, 9.5, 1e-9);
}

TEST(ClassKindsTest, EveryPairIsNamed) {
  EXPECT_EQ(DifferentKinds({Kind("a", 10, 0, 1), Kind("b", 20, 0, 1), Kind("c", 40, 0, 1)}).size(),
            3u);
}

TEST(ClassKindsTest, UnknownProcessorTimeIsNotCompared) {
  EXPECT_TRUE(
      DifferentKinds({Kind("a", 50, 0, 1, 0.01), Kind("b", 50, 0, 1), Kind("c", 50, 0, 1, 0.0)})
          .empty());
}

}  // namespace
}  // namespace neptune
