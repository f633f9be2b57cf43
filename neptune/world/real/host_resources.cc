#include "neptune/world/real/host_resources.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

// Programs that visit all possible descriptors become slow with more.
constexpr rlim_t kDescriptorLimitMax = rlim_t{1} << 20;
constexpr size_t kCgroupFileSizeMax = 64 * 1024;

uint64_t MachineMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_size = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_size <= 0) return HostResources().memory_size;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_size);
}

// The limit in a control group's file; the largest number if there is none.
uint64_t LimitIn(const std::string& path) {
  const StatusOr<std::string> text = ReadFile(path, kCgroupFileSizeMax);
  uint64_t limit = 0;
  if (!text.ok() || !absl::SimpleAtoi(absl::StripSuffix(ToAbsl(*text), "\n"), &limit)) {
    return std::numeric_limits<uint64_t>::max();
  }
  return limit;
}

// The process's group of the unified hierarchy, as a path below its root.
std::string OwnCgroup() {
  const StatusOr<std::string> text = ReadFile("/proc/self/cgroup", kCgroupFileSizeMax);
  if (!text.ok()) return "";
  constexpr std::string_view kUnified = "0::/";
  const size_t begin = text->find(kUnified);
  if (begin == std::string::npos) return "";
  const size_t path = begin + kUnified.size();
  return text->substr(path, text->find('\n', path) - path);
}

}  // namespace

size_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return HostResources().descriptor_limit;
  const rlim_t wanted = std::min(limit.rlim_max, kDescriptorLimitMax);
  if (limit.rlim_cur < wanted) {
    const rlimit raised{wanted, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return static_cast<size_t>(std::min(limit.rlim_cur, kDescriptorLimitMax));
}

uint64_t MemorySize(const std::string& cgroup_root) {
  uint64_t size = std::min(MachineMemory(), LimitIn(cgroup_root + "/memory/memory.limit_in_bytes"));
  // Each group above bounds those below it.
  std::filesystem::path group = std::filesystem::path(cgroup_root) / OwnCgroup();
  for (int depth = 0; depth < 64; ++depth) {
    size = std::min(size, LimitIn((group / "memory.max").string()));
    if (group == cgroup_root || !group.has_relative_path()) break;
    group = group.parent_path();
  }
  return size;
}

StatusOr<DiskSpace> SpaceOf(const std::string& path) {
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(path, error);
  struct statvfs space {};
  while (statvfs(there.c_str(), &space) != 0) {
    if (errno != ENOENT || !there.has_relative_path()) {
      return Unavailable("the free space of ", path, " cannot be read");
    }
    there = there.parent_path();
  }
  const uint64_t block_size = space.f_frsize;
  return DiskSpace{.total = space.f_blocks * block_size, .free = space.f_bavail * block_size};
}

}  // namespace neptune
