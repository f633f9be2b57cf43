#include "neptune/base/private_memory.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "neptune/base/secret_file.h"

namespace neptune {
namespace {

// Runs `is_so` in a child, since what it changes is for the whole process.
template <typename Check>
bool InChild(Check is_so) {
  const pid_t child = fork();
  if (child == 0) _exit(is_so() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool MayDump() { return prctl(PR_GET_DUMPABLE) == 1; }

// True if a crash can write a core file: the ELF dumper needs a page.
bool HasCoreFiles() {
  rlimit limit{};
  return getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max > 1;
}

TEST(PrivateMemoryTest, CoreFilesAreForbiddenForGood) {
  EXPECT_TRUE(InChild([] { return ForbidCoreFiles().ok() && !HasCoreFiles() && MayDump(); }));
}

TEST(PrivateMemoryTest, AStricterLimitIsKept) {
  EXPECT_TRUE(InChild([] {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    return setrlimit(RLIMIT_CORE, &none) == 0 && ForbidCoreFiles().ok() && !HasCoreFiles();
  }));
}

TEST(PrivateMemoryTest, OtherProcessesMayNotRead) {
  EXPECT_TRUE(InChild([] { return MayDump(); })) << "the control";
  EXPECT_TRUE(InChild([] { return KeepMemoryPrivate().ok() && !MayDump() && !HasCoreFiles(); }));
}

}  // namespace
}  // namespace neptune
