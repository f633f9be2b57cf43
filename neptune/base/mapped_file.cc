#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "neptune/base/file.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

// What the handler knows of a mapping. A free slot has an end of 0. The beginning is written before
// the end and the end cleared first, so that a half-written slot holds no address.
struct Slot {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> has_lost_pages{false};
};

// Constant-initialised, and never destroyed, since signals may arrive before main and after it.
constinit std::array<Slot, kMappedFilesMax> slots;
constinit std::atomic<size_t> slot_end{0};  // no slot from here on was ever used
constinit std::atomic<uintptr_t> page_size{0};

struct sigaction previous_action;                  // set before the handler is
constinit std::atomic<long> forwarding_thread{0};  // the last one that forwards a fault; 0: none

// Held while slots are taken and returned and while the handler is set.
LeafMutex& SlotsMutex() {
  static LeafMutex& mutex = *new LeafMutex;
  return mutex;
}

static_assert(std::atomic<uintptr_t>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

Slot* FindSlot(uintptr_t address) {
  const size_t end = slot_end.load(std::memory_order_acquire);
  for (size_t i = 0; i < end; ++i) {
    Slot& slot = slots[i];
    if (address < slot.end.load(std::memory_order_acquire) &&
        address >= slot.begin.load(std::memory_order_relaxed)) {
      return &slot;
    }
  }
  return nullptr;
}

// Maps zeros from the page of the address to the end of the slot's mapping. One mapping for all of
// it, because what follows is mostly lost as well, and the kernel limits the number of mappings.
// The system call is made directly: the function mmap may be interposed, and account for memory.
bool MapZeros(const Slot& slot, uintptr_t address) {
  const uintptr_t page = page_size.load(std::memory_order_relaxed);
  const uintptr_t begin = address / page * page;
  const uintptr_t end = (slot.end.load(std::memory_order_relaxed) + page - 1) / page * page;
  const long mapped = syscall(SYS_mmap, begin, end - begin, PROT_READ,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  return mapped == static_cast<long>(begin);
}

// Calls the handler that was there before, which may be that of another library with a copy of this
// code. Without one, or if that one has called this one, the access is repeated without any and
// ends the process.
void ForwardFault(int signal, siginfo_t* info, void* context) {
  const struct sigaction& previous = previous_action;
  long self = syscall(SYS_gettid);
  const bool is_called_back = forwarding_thread.exchange(self) == self;
  if (!is_called_back && (previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (!is_called_back && previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    struct sigaction none = {};
    none.sa_handler = SIG_DFL;
    sigaction(SIGBUS, &none, nullptr);
  }
  forwarding_thread.compare_exchange_strong(self, 0);
}

void OnBusError(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  // A signal that a process sent names no address.
  Slot* const slot = info->si_code > 0 ? FindSlot(address) : nullptr;
  if (slot != nullptr && MapZeros(*slot, address)) {
    slot->has_lost_pages.store(true, std::memory_order_release);
  } else {
    ForwardFault(signal, info, context);
  }
  errno = saved_errno;
}

// REQUIRES: SlotsMutex() is held.
void SetHandler() {
  struct sigaction present = {};
  if (sigaction(SIGBUS, nullptr, &present) != 0) return;
  if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == &OnBusError) return;
  previous_action = present;
  page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction ours = {};
  ours.sa_sigaction = &OnBusError;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&ours.sa_mask);  // no signal that leaves by a jump comes between
  sigaction(SIGBUS, &ours, nullptr);
}

// Null: all slots are taken.
Slot* TakeSlot(const void* start, size_t size) {
  LeafLock lock(&SlotsMutex());
  SetHandler();
  for (size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    if (slot.end.load(std::memory_order_relaxed) != 0) continue;
    const auto begin = reinterpret_cast<uintptr_t>(start);
    slot.has_lost_pages.store(false, std::memory_order_relaxed);
    slot.begin.store(begin, std::memory_order_relaxed);
    slot.end.store(begin + size, std::memory_order_release);
    if (slot_end.load(std::memory_order_relaxed) <= i) {
      slot_end.store(i + 1, std::memory_order_release);
    }
    return &slot;
  }
  return nullptr;
}

void ReturnSlot(Slot* slot) {
  LeafLock lock(&SlotsMutex());
  slot->end.store(0, std::memory_order_release);
}

bool IsEqual(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

struct MappedFile::Mapping {
  Mapping(std::string path_in, int descriptor_in)
      : path(std::move(path_in)), descriptor(descriptor_in) {}
  ~Mapping() {
    if (slot != nullptr) ReturnSlot(slot);
    if (!bytes.empty()) munmap(const_cast<char*>(bytes.data()), bytes.size());
    if (descriptor >= 0) close(descriptor);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const std::string path;
  const int descriptor;
  std::string_view bytes;
  timespec changed_at = {};
  Slot* slot = nullptr;  // null: the file is empty
};

MappedFile::MappedFile(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
MappedFile::MappedFile(MappedFile&& other) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&& other) noexcept = default;
MappedFile::~MappedFile() = default;

StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  int descriptor = -1;
  do {
    descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return ErrnoStatus(errno, "open", path);
  auto mapping = std::make_unique<Mapping>(path, descriptor);
  struct stat info = {};
  if (fstat(descriptor, &info) != 0) return ErrnoStatus(errno, "look up", path);
  if (!S_ISREG(info.st_mode)) return FailedPrecondition("map ", path, ": not a regular file");
  mapping->changed_at = info.st_mtim;
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return MappedFile(std::move(mapping));
  void* const start = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (start == MAP_FAILED) return ErrnoStatus(errno, "map", path);
  mapping->bytes = {static_cast<const char*>(start), size};
  mapping->slot = TakeSlot(start, size);
  if (mapping->slot == nullptr) {
    return ResourceExhausted("map ", path, ": ", kMappedFilesMax, " files are mapped");
  }
  return MappedFile(std::move(mapping));
}

std::string_view MappedFile::bytes() const {
  return mapping_ == nullptr ? std::string_view() : mapping_->bytes;
}

bool MappedFile::has_lost_pages() const {
  return mapping_ != nullptr && mapping_->slot != nullptr &&
         mapping_->slot->has_lost_pages.load(std::memory_order_acquire);
}

Status MappedFile::CheckUnchanged() const {
  if (mapping_ == nullptr) return OkStatus();
  if (has_lost_pages()) return DataLoss(mapping_->path, ": a part of the file cannot be read");
  struct stat info = {};
  if (fstat(mapping_->descriptor, &info) != 0) {
    return ErrnoStatus(errno, "look up", mapping_->path);
  }
  if (static_cast<size_t>(info.st_size) == mapping_->bytes.size() &&
      IsEqual(info.st_mtim, mapping_->changed_at)) {
    return OkStatus();
  }
  return DataLoss(mapping_->path, ": the file was changed while it was in use");
}

}  // namespace neptune
