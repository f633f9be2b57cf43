// A library for LD_PRELOAD that gives the files of one folder faults: flushes that take longer,
// reads that fail, a file system with less free space, and a record of what was flushed. It also
// moves the wall clock.
//
// Threads: thread-safe.
// Errors: a failing read sets EIO. Without the page the process runs as it would otherwise.
// Limits: files are found by descriptors, so memory-mapped reads do not fail and msync takes no
//   longer. Writes that flush themselves (O_DSYNC) take no longer, and count as flushed.

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "tools/chaos/disk_fault_page.h"

namespace search::chaos {
namespace {

constexpr uint64_t kPartsPerMillion = 1'000'000;
constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr uint64_t kUsPerSecond = 1'000'000;

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Faults {
  DiskFaultPage* page = nullptr;  // null: none
  char folder[PATH_MAX] = "";     // ends with a slash
  size_t folder_size = 0;

  Faults() {
    const char* const path = getenv(kDiskFaultPageVariable);
    const char* const below = getenv(kDiskFaultFolderVariable);
    if (path == nullptr || below == nullptr) return;
    const int file = Next<int(const char*, int, ...)>("open")(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void* const mapped =
        mmap(nullptr, sizeof(DiskFaultPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return;
    auto* const found = static_cast<DiskFaultPage*>(mapped);
    if (found->magic.load() != kDiskFaultMagic) return;
    folder_size = strlen(below);
    if (folder_size + 1 >= sizeof(folder)) return;
    memcpy(folder, below, folder_size);
    if (folder_size == 0 || folder[folder_size - 1] != '/') folder[folder_size++] = '/';
    page = found;
  }
};

// Has no destructor, since other threads call until the process ends, and takes no memory, since an
// allocator that starts reads files.
Faults& TheFaults() {
  static_assert(std::is_trivially_destructible_v<Faults>);
  static Faults faults;
  return faults;
}

bool IsInFolder(int descriptor) {
  char link[40];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  char path[PATH_MAX];
  const ssize_t size = readlink(link, path, sizeof(path));
  const Faults& faults = TheFaults();
  return size >= static_cast<ssize_t>(faults.folder_size) &&
         memcmp(path, faults.folder, faults.folder_size) == 0;
}

uint64_t NextRandom() {
  static std::atomic<uint64_t> state{0x9e3779b97f4a7c15};
  uint64_t mixed = state.fetch_add(0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

// Whether a read of the file fails; sets errno.
bool ReadFails(int descriptor) {
  DiskFaultPage* const page = TheFaults().page;
  if (page == nullptr) return false;
  const uint64_t ppm = page->read_error_ppm.load(std::memory_order_relaxed);
  if (ppm == 0 || NextRandom() % kPartsPerMillion >= ppm || !IsInFolder(descriptor)) return false;
  ++page->read_error_count;
  errno = EIO;
  return true;
}

void Delay(uint64_t us) {
  if (us == 0) return;
  timespec left{static_cast<time_t>(us / kUsPerSecond),
                static_cast<long>(us % kUsPerSecond) * 1000};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

void SetFlushed(const struct stat& file, uint64_t size) {
  FlushedFile* const place = TheFaults().page->Find(file.st_ino);
  if (place == nullptr) return;
  // An inode may be that of a file which is gone: then this is an earlier, larger size, and the
  // new file loses less than it might.
  uint64_t before = place->size.load();
  while (before < size && !place->size.compare_exchange_weak(before, size)) {
  }
}

// Runs a flush after the delay.
template <typename Flush>
int FlushSlowly(int descriptor, bool counts, Flush flush) {
  DiskFaultPage* const page = TheFaults().page;
  if (page == nullptr || !IsInFolder(descriptor)) return flush();
  struct stat file {};
  const bool is_known = fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode);
  ++page->flush_count;
  ++page->flushing_count;
  Delay(page->flush_delay_us.load());
  const int result = flush();
  const int error = errno;
  if (result == 0 && counts && is_known) SetFlushed(file, static_cast<uint64_t>(file.st_size));
  --page->flushing_count;
  errno = error;
  return result;
}

// Notes a file whose writes flush themselves.
int Opened(int descriptor, int flags) {
  if (descriptor < 0 || (flags & O_DSYNC) == 0 || TheFaults().page == nullptr) return descriptor;
  struct stat file {};
  if (IsInFolder(descriptor) && fstat(descriptor, &file) == 0) SetFlushed(file, kAlwaysFlushed);
  return descriptor;
}

}  // namespace
}  // namespace search::chaos

using search::chaos::FlushSlowly;
using search::chaos::Next;
using search::chaos::Opened;
using search::chaos::ReadFails;

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int fsync(int descriptor) {
  static auto* const next = Next<int(int)>("fsync");
  return FlushSlowly(descriptor, true, [&] { return next(descriptor); });
}

EXPORTED int fdatasync(int descriptor) {
  static auto* const next = Next<int(int)>("fdatasync");
  return FlushSlowly(descriptor, true, [&] { return next(descriptor); });
}

// Promises nothing about a crash, so it takes its time and counts as no flush.
EXPORTED int sync_file_range(int descriptor, off64_t offset, off64_t size, unsigned flags) {
  static auto* const next = Next<int(int, off64_t, off64_t, unsigned)>("sync_file_range");
  if ((flags & SYNC_FILE_RANGE_WAIT_AFTER) == 0) return next(descriptor, offset, size, flags);
  return FlushSlowly(descriptor, false, [&] { return next(descriptor, offset, size, flags); });
}

EXPORTED ssize_t read(int descriptor, void* to, size_t size) {
  static auto* const next = Next<ssize_t(int, void*, size_t)>("read");
  return ReadFails(descriptor) ? -1 : next(descriptor, to, size);
}

EXPORTED ssize_t pread(int descriptor, void* to, size_t size, off_t offset) {
  static auto* const next = Next<ssize_t(int, void*, size_t, off_t)>("pread");
  return ReadFails(descriptor) ? -1 : next(descriptor, to, size, offset);
}

EXPORTED ssize_t pread64(int descriptor, void* to, size_t size, off64_t offset) {
  static auto* const next = Next<ssize_t(int, void*, size_t, off64_t)>("pread64");
  return ReadFails(descriptor) ? -1 : next(descriptor, to, size, offset);
}

EXPORTED ssize_t readv(int descriptor, const iovec* to, int count) {
  static auto* const next = Next<ssize_t(int, const iovec*, int)>("readv");
  return ReadFails(descriptor) ? -1 : next(descriptor, to, count);
}

EXPORTED ssize_t preadv(int descriptor, const iovec* to, int count, off_t offset) {
  static auto* const next = Next<ssize_t(int, const iovec*, int, off_t)>("preadv");
  return ReadFails(descriptor) ? -1 : next(descriptor, to, count, offset);
}

EXPORTED size_t fread(void* to, size_t size, size_t count, FILE* file) {
  static auto* const next = Next<size_t(void*, size_t, size_t, FILE*)>("fread");
  return ReadFails(fileno(file)) ? 0 : next(to, size, count, file);
}

EXPORTED size_t fread_unlocked(void* to, size_t size, size_t count, FILE* file) {
  static auto* const next = Next<size_t(void*, size_t, size_t, FILE*)>("fread_unlocked");
  return ReadFails(fileno_unlocked(file)) ? 0 : next(to, size, count, file);
}

namespace {

mode_t ModeOf(int flags, va_list& arguments) {
  const bool has_mode = (flags & (O_CREAT | O_TMPFILE)) != 0;
  return has_mode ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

}  // namespace

#define DEFINE_OPEN(NAME)                                              \
  EXPORTED int NAME(const char* path, int flags, ...) {                \
    static auto* const next = Next<int(const char*, int, ...)>(#NAME); \
    va_list arguments;                                                 \
    va_start(arguments, flags);                                        \
    const mode_t mode = ModeOf(flags, arguments);                      \
    va_end(arguments);                                                 \
    return Opened(next(path, flags, mode), flags);                     \
  }
#define DEFINE_OPENAT(NAME)                                                 \
  EXPORTED int NAME(int folder, const char* path, int flags, ...) {         \
    static auto* const next = Next<int(int, const char*, int, ...)>(#NAME); \
    va_list arguments;                                                      \
    va_start(arguments, flags);                                             \
    const mode_t mode = ModeOf(flags, arguments);                           \
    va_end(arguments);                                                      \
    return Opened(next(folder, path, flags, mode), flags);                  \
  }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

namespace {

// `path` is the folder, or below it.
bool IsBelowFolder(const char* path) {
  const auto& faults = search::chaos::TheFaults();
  const size_t without_slash = faults.folder_size - 1;
  return strncmp(path, faults.folder, without_slash) == 0 &&
         (path[without_slash] == '/' || path[without_slash] == '\0');
}

template <typename Space>
int SetSpace(int result, const char* path, Space* space) {
  search::chaos::DiskFaultPage* const page = search::chaos::TheFaults().page;
  if (result != 0 || page == nullptr || space->f_frsize == 0) return result;
  const uint64_t free = page->free_space.load(std::memory_order_relaxed);
  if (free != search::chaos::kTrueSpace && IsBelowFolder(path)) {
    space->f_bavail = space->f_bfree = free / space->f_frsize;
  }
  return result;
}

}  // namespace

EXPORTED int statvfs(const char* path, struct statvfs* space) noexcept {
  static auto* const next = Next<int(const char*, struct statvfs*)>("statvfs");
  return SetSpace(next(path, space), path, space);
}

EXPORTED int statvfs64(const char* path, struct statvfs64* space) noexcept {
  static auto* const next = Next<int(const char*, struct statvfs64*)>("statvfs64");
  return SetSpace(next(path, space), path, space);
}

EXPORTED int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static auto* const next = Next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = next(clock, time);
  search::chaos::DiskFaultPage* const page = search::chaos::TheFaults().page;
  if (result != 0 || clock != CLOCK_REALTIME || page == nullptr) return result;
  const int64_t offset = page->clock_offset_ns.load(std::memory_order_relaxed);
  if (offset == 0) return result;
  int64_t ns = time->tv_nsec + offset % search::chaos::kNsPerSecond;
  time->tv_sec += offset / search::chaos::kNsPerSecond;
  if (ns >= search::chaos::kNsPerSecond) ++time->tv_sec, ns -= search::chaos::kNsPerSecond;
  if (ns < 0) --time->tv_sec, ns += search::chaos::kNsPerSecond;
  time->tv_nsec = ns;
  return 0;
}
