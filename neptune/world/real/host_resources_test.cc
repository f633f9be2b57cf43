#include "neptune/world/real/host_resources.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

namespace neptune {
namespace {

TEST(HostResourcesTest, SoftLimitOfDescriptorsIsRaisedToTheHardOne) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit lowered{64, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lowered), 0);
  const size_t limit = RaiseDescriptorLimit();
  rlimit after{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(limit, after.rlim_cur);
  EXPECT_EQ(after.rlim_cur, std::min<rlim_t>(before.rlim_max, 1 << 20));
}

TEST(HostResourcesTest, MemoryIsThatOfTheSmallestGroup) {
  const uint64_t whole = MemorySize("/nowhere");
  EXPECT_GT(whole, uint64_t{1} << 24);
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "cgroup";
  std::filesystem::create_directories(root / "memory");
  std::ofstream(root / "memory.max") << "max\n";
  EXPECT_EQ(MemorySize(root.string()), whole);
  std::ofstream(root / "memory/memory.limit_in_bytes") << "9000000\n";
  EXPECT_EQ(MemorySize(root.string()), 9'000'000u);
  std::ofstream(root / "memory.max") << "8000000\n";
  EXPECT_EQ(MemorySize(root.string()), 8'000'000u);
}

TEST(HostResourcesTest, SpaceOfAPathThatDoesNotExistIsThatOfItsParent) {
  const auto space = SpaceOf(testing::TempDir());
  ASSERT_TRUE(space.ok()) << space.status();
  EXPECT_GT(space->total, 0u);
  EXPECT_LE(space->free, space->total);
  const auto below = SpaceOf(testing::TempDir() + "/none/such");
  ASSERT_TRUE(below.ok()) << below.status();
  EXPECT_EQ(below->total, space->total);
}

}  // namespace
}  // namespace neptune
