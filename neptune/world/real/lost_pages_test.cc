// A mapped file that is truncated while a loop's thread, and a helper thread that it made, read it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "neptune/base/file.h"
#include "neptune/base/notification.h"
#include "neptune/world/helper_threads.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

constexpr size_t kFileSize = 64 * 4096;

// Whether `run` reads zeros from a file that is truncated under it.
bool ReadsZeros(const std::string& name, const std::function<void(std::function<void()>)>& run) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / name).string();
  EXPECT_TRUE(WriteFileAtomically(path, std::string(kFileSize, 'x')).ok());
  const StatusOr<MappedFile> file = MappedFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(truncate(path.c_str(), 0), 0);
  bool are_zeros = false;
  Notification done;
  run([&] {
    const std::string_view bytes = file->bytes();
    are_zeros = std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
    done.Notify();
  });
  done.WaitForNotification();
  std::filesystem::remove(path);
  return are_zeros && file->has_lost_pages();
}

TEST(LostPagesTest, LoopThatReadsATruncatedMappingReadsZeros) {
  const auto world = MakeRealWorld({});
  auto loop = world->StartLoop({.name = "reader"});
  ASSERT_TRUE(loop.ok()) << loop.status();
  EXPECT_TRUE(ReadsZeros("lost_pages_loop",
                         [&](std::function<void()> read) { (*loop)->Post(std::move(read)); }));
}

TEST(LostPagesTest, HelperThreadOfALoopReadsZerosToo) {
  const auto world = MakeRealWorld({});
  auto loop = world->StartLoop({.name = "reader"});
  ASSERT_TRUE(loop.ok()) << loop.status();
  std::unique_ptr<HelperThreads> helpers;
  Notification made;
  (*loop)->Post([&] {  // its threads have the loop's signal mask
    helpers = world->MakeHelperThreads("helper", 1);
    made.Notify();
  });
  made.WaitForNotification();
  EXPECT_TRUE(ReadsZeros("lost_pages_helper",
                         [&](std::function<void()> read) { helpers->Run(std::move(read)); }));
}

}  // namespace
}  // namespace neptune
