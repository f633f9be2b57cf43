#include "docserver/flat_file/page_residency.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string>

namespace search::docserver::flat_file {
namespace {

TEST(PageResidencyTest, PagesThatWereNeverReadAreNotInMemory) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t kPageCount = 600;  // of several calls
  const std::string path = testing::TempDir() + "/pages";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(kPageCount * page)), 0);
  void* const mapped = mmap(nullptr, kPageCount * page, PROT_READ, MAP_SHARED, file, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  ASSERT_EQ(madvise(mapped, kPageCount * page, MADV_RANDOM), 0);  // nothing is read ahead
  const std::string_view bytes(static_cast<const char*>(mapped), kPageCount * page);
  EXPECT_TRUE(IsInMemory(bytes.substr(0, 0)));
  EXPECT_FALSE(IsInMemory(bytes.substr(10, 1)));
  EXPECT_EQ(bytes[20], '\0');
  EXPECT_TRUE(IsInMemory(bytes.substr(10, 1)));
  EXPECT_TRUE(IsInMemory(bytes.substr(0, page)));
  EXPECT_FALSE(IsInMemory(bytes.substr(10, page)));
  for (size_t i = 0; i + 1 < kPageCount; ++i) EXPECT_EQ(bytes[i * page], '\0');
  EXPECT_TRUE(IsInMemory(bytes.substr(0, (kPageCount - 1) * page)));
  EXPECT_FALSE(IsInMemory(bytes));
  munmap(mapped, kPageCount * page);
  close(file);
}

}  // namespace
}  // namespace search::docserver::flat_file
