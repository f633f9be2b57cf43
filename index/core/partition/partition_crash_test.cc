// Kills a process that changes a partition at every operation on files in turn, a write half done,
// and opens what is left: all that was acknowledged is there, of the change in work all or nothing.
//
// The operations are those of the C library that the partition's code uses; this program defines
// them and counts.

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

#include "index/core/partition/partition.h"
#include "index/core/testing/collection.h"

namespace {

// Number of operations until the process ends; negative: unlimited.
int operations_left = -1;

// True if this is the operation at which the process ends.
bool IsLast() { return operations_left >= 0 && operations_left-- == 0; }

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  static const auto next = Next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  if (IsLast()) {
    next(descriptor, bytes, size / 2, offset);
    _exit(9);
  }
  return next(descriptor, bytes, size, offset);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off_t offset) {
  return pwrite(descriptor, bytes, size, offset);
}

int fsync(int descriptor) {
  static const auto next = Next<int (*)(int)>("fsync");
  if (IsLast()) _exit(9);
  return next(descriptor);
}

int rename(const char* from, const char* to) noexcept {
  static const auto next = Next<int (*)(const char*, const char*)>("rename");
  if (IsLast()) _exit(9);
  return next(from, to);
}

int unlink(const char* path) noexcept {
  static const auto next = Next<int (*)(const char*)>("unlink");
  if (IsLast()) _exit(9);
  return next(path);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static const auto next = Next<int (*)(int, const char*, int)>("unlinkat");
  if (IsLast()) _exit(9);
  return next(folder, path, flags);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto next = Next<int (*)(const char*, mode_t)>("mkdir");
  if (IsLast()) _exit(9);
  return next(path, mode);
}

}  // extern "C"

namespace search::index {
namespace {

PartitionOptions OptionsFor(const std::string& directory) {
  return {.directory = directory, .merging = {.merge_count = 2, .documents_min = 2}};
}

// Live documents after `step_count` steps.
std::set<uint64_t> LivingAfter(int step_count) {
  switch (step_count) {
    case 0:
      return {};
    case 1:
      return {1, 2, 3};
    case 2:
      return {1, 3, 4};
    case 3:  // a merge
    case 4:  // collection terms
      return {1, 3, 4};
    default:
      return {3, 5};
  }
}

neptune::Status Add(Partition* partition, const std::vector<uint64_t>& added,
                    const std::vector<uint64_t>& deleted) {
  PartitionUpdate update;
  for (const uint64_t doc_id : added) {
    update.documents.push_back({.doc_id = doc_id, .title = "A title", .body = "some words here"});
  }
  update.deleted = deleted;
  return partition->Update(update);
}

constexpr int kSteps = 5;

bool Step(Partition* partition, const std::string& terms_path, int step) {
  switch (step) {
    case 1:
      return Add(partition, {1, 2, 3}, {}).ok();
    case 2:
      return Add(partition, {3, 4}, {2}).ok();
    case 3:
      return partition->Merge().value_or(false);
    case 4:
      return partition->CountTerms(terms_path).ok() && partition->UseTerms(terms_path).ok();
    default:
      return Add(partition, {5}, {1, 4}).ok();
  }
}

// Runs in a process of its own: executes all steps and writes a byte for each completed one.
[[noreturn]] void Run(const std::string& folder, int operations, int acknowledgements) {
  operations_left = operations;
  auto partition = Partition::Open(OptionsFor(folder + "/partition"));
  if (!partition.ok()) _exit(2);
  for (int step = 1; step <= kSteps; ++step) {
    if (!Step(partition->get(), folder + "/terms", step)) _exit(2);
    if (::write(acknowledgements, "+", 1) != 1) _exit(2);
  }
  _exit(0);
}

std::set<uint64_t> Living(const PartitionSnapshot& snapshot) {
  std::set<uint64_t> living;
  for (uint64_t doc_id = 0; doc_id < 10; ++doc_id) {
    if (snapshot.Holds(doc_id)) living.insert(doc_id);
  }
  return living;
}

// Runs the steps up to that operation; returns true if they completed before.
bool RunAndCheck(int operations) {
  TemporaryFolder folder;
  int pipe_ends[2];
  EXPECT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) Run(folder.path(), operations, pipe_ends[1]);
  ::close(pipe_ends[1]);
  int done = 0;
  for (char byte = 0; ::read(pipe_ends[0], &byte, 1) == 1;) ++done;
  ::close(pipe_ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_TRUE(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9) << WEXITSTATUS(status);

  auto partition = Partition::Open(OptionsFor(folder.path() + "/partition"));
  EXPECT_TRUE(partition.ok()) << partition.status();
  if (!partition.ok()) return true;
  const auto living = Living(*(*partition)->snapshot());
  EXPECT_TRUE(living == LivingAfter(done) || living == LivingAfter(done + 1)) << done << " done";
  // The partition accepts further changes, and no temporary files remain.
  EXPECT_TRUE(Add(partition->get(), {8, 9}, {}).ok());
  size_t folder_count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/partition")) {
    folder_count += entry.is_directory() ? 1 : 0;
  }
  EXPECT_EQ(folder_count, (*partition)->snapshot()->parts().size());
  return WEXITSTATUS(status) == 0;
}

TEST(PartitionCrashTest, EveryCutLeavesAWholePartition) {
  int operations = 0;
  for (; !RunAndCheck(operations) && !testing::Test::HasFailure(); ++operations) continue;
  EXPECT_GT(operations, 40) << "the operations are counted";
}

}  // namespace
}  // namespace search::index
