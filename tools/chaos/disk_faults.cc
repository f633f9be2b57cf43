#include "tools/chaos/disk_faults.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>

#include "neptune/base/descriptor.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/chaos/disk_fault_page.h"
#include "tools/process/peer_process.h"

namespace search::chaos {
namespace {

namespace fs = std::filesystem;

using neptune::Duration;
using neptune::ErrnoStatus;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr char kLibrary[] = "tools/chaos/libdisk_faults.so";
constexpr int kBitsPerByte = 8;
// neptune/replication/log/README.md: where the segments of a node's log are, and the file beside
// them that each sync overwrites.
constexpr char kLogFolder[] = "/.log-files";
constexpr std::string_view kMarkSuffix = "-mark";

struct FoundFile {
  std::string path;
  uint64_t size = 0;
};

// All files below the folder, ordered by path so that a seed finds the same again.
StatusOr<std::vector<FoundFile>> FilesBelow(const std::string& folder) {
  std::vector<FoundFile> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // a file may vanish
    if (!entry->is_regular_file(ignored)) continue;
    const uint64_t size = entry->file_size(ignored);
    if (!ignored) files.push_back({entry->path().string(), size});
  }
  if (error) return neptune::Unavailable("reading ", folder, ": ", error.message());
  std::sort(files.begin(), files.end(),
            [](const FoundFile& a, const FoundFile& b) { return a.path < b.path; });
  return files;
}

bool HoldsData(const FoundFile& file) {
  const std::string name = fs::path(file.path).filename().string();
  return file.size > 0 && name != "LOCK" && name != "LOG" && !name.starts_with("LOG.old.");
}

int64_t MicrosecondsOf(Duration time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

}  // namespace

std::string BitPlace::ToString() const {
  return StrCat("bit ", bit, " of byte ", offset, " of ", path);
}

Status FlipBit(const BitPlace& place) {
  const neptune::Descriptor file(open(place.path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.open()) return ErrnoStatus(errno, "opening", place.path);
  char byte = 0;
  const auto offset = static_cast<off_t>(place.offset);
  if (pread(file.number(), &byte, 1, offset) != 1)
    return neptune::Unavailable("reading ", place.ToString());
  byte = static_cast<char>(byte ^ (1 << place.bit));
  if (pwrite(file.number(), &byte, 1, offset) != 1)
    return neptune::Unavailable("writing ", place.ToString());
  return OkStatus();
}

std::optional<char> ByteAt(const BitPlace& place) {
  const neptune::Descriptor file(open(place.path.c_str(), O_RDONLY | O_CLOEXEC));
  char byte = 0;
  if (!file.open() || pread(file.number(), &byte, 1, static_cast<off_t>(place.offset)) != 1)
    return std::nullopt;
  return byte;
}

namespace {

// Draws a bit among the first `size` bytes of each file. Errors: kNotFound there are none.
StatusOr<BitPlace> DrawAmong(const std::vector<FoundFile>& files, const std::string& folder,
                             neptune::RandomSource& random) {
  uint64_t total = 0;
  for (const FoundFile& file : files) total += file.size;
  if (total == 0) return neptune::NotFound("no data in ", folder);
  uint64_t offset = random.Below(total);
  const int bit = static_cast<int>(random.Below(kBitsPerByte));
  for (const FoundFile& file : files) {
    if (offset < file.size) return BitPlace{file.path, offset, bit};
    offset -= file.size;
  }
  return neptune::Internal("a byte beyond the last file");
}

}  // namespace

StatusOr<BitPlace> DrawBit(const std::string& folder, neptune::RandomSource& random) {
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<FoundFile> files, FilesBelow(folder));
  std::erase_if(files, [](const FoundFile& file) { return !HoldsData(file); });
  return DrawAmong(files, folder, random);
}

StatusOr<BitPlace> DiskFaults::DrawLogBit(neptune::RandomSource& random) const {
  const std::string folder = folder_ + kLogFolder;
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return neptune::NotFound("no log in ", folder_);
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<FoundFile> files, FilesBelow(folder));
  for (FoundFile& file : files) {
    struct stat state {};
    const bool counts = HoldsData(file) && !file.path.ends_with(kMarkSuffix) &&
                        stat(file.path.c_str(), &state) == 0;
    const FlushedFile* const flushed = counts ? page_->Find(state.st_ino) : nullptr;
    file.size = flushed == nullptr ? 0 : std::min(file.size, flushed->size.load());
  }
  return DrawAmong(files, folder, random);
}

StatusOr<std::unique_ptr<DiskFaults>> DiskFaults::Make(const std::string& folder,
                                                       const std::string& page) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string library, lab::FindProgram(kLibrary));
  const neptune::Descriptor file(open(page.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.open()) return ErrnoStatus(errno, "creating", page);
  if (ftruncate(file.number(), sizeof(DiskFaultPage)) != 0)
    return ErrnoStatus(errno, "extending", page);
  void* const mapped =
      mmap(nullptr, sizeof(DiskFaultPage), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (mapped == MAP_FAILED) return ErrnoStatus(errno, "mapping", page);
  std::vector<std::string> prefix = {"/usr/bin/env", "LD_PRELOAD=" + fs::absolute(library).string(),
                                     StrCat(kDiskFaultPageVariable, "=", page),
                                     StrCat(kDiskFaultFolderVariable, "=", folder)};
  return std::unique_ptr<DiskFaults>(
      new DiskFaults(folder, std::move(prefix), new (mapped) DiskFaultPage));
}

DiskFaults::~DiskFaults() { munmap(page_, sizeof(DiskFaultPage)); }

void DiskFaults::SetFlushDelay(Duration delay) {
  page_->flush_delay_us.store(static_cast<uint64_t>(MicrosecondsOf(delay)));
}

void DiskFaults::SetReadErrors(double probability) {
  page_->read_error_ppm.store(static_cast<uint64_t>(std::llround(probability * 1e6)));
}

void DiskFaults::SetClockOffset(Duration offset) { page_->clock_offset_ns.store(offset.count()); }

void DiskFaults::SetFreeSpace(std::optional<uint64_t> free) {
  page_->free_space.store(free.value_or(kTrueSpace));
}

Duration DiskFaults::flush_delay() const {
  return std::chrono::microseconds(page_->flush_delay_us.load());
}

uint64_t DiskFaults::flush_count() const { return page_->flush_count.load(); }
uint64_t DiskFaults::read_error_count() const { return page_->read_error_count.load(); }
bool DiskFaults::is_flushing() const { return page_->flushing_count.load() > 0; }

StatusOr<uint64_t> DiskFaults::LoseUnflushed(neptune::RandomSource& random) {
  page_->flushing_count.store(0);  // those of the process that ended
  if (page_->is_full.load() != 0)
    return neptune::ResourceExhausted("more files below ", folder_, " than the page has places");
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<FoundFile> files, FilesBelow(folder_));
  uint64_t lost = 0;
  for (const FoundFile& file : files) {
    struct stat state {};
    if (stat(file.path.c_str(), &state) != 0) return ErrnoStatus(errno, "reading", file.path);
    const FlushedFile* const flushed = page_->Find(state.st_ino);
    if (flushed == nullptr) return neptune::ResourceExhausted("no place for ", file.path);
    const uint64_t kept_min = flushed->size.load();
    if (kept_min >= file.size) continue;
    const uint64_t kept = kept_min + random.Below(file.size - kept_min + 1);
    if (truncate(file.path.c_str(), static_cast<off_t>(kept)) != 0)
      return ErrnoStatus(errno, "cutting", file.path);
    lost += file.size - kept;
  }
  return lost;
}

}  // namespace search::chaos
