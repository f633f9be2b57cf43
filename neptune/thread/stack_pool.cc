#include "neptune/thread/stack_pool.h"

#include <glog/logging.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define NEPTUNE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NEPTUNE_ASAN 1
#endif
#endif

#ifdef NEPTUNE_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace neptune {
namespace {

constexpr uint64_t kCanary = 0x6e657074756e6521;
// Size of the canary at the low end of a stack, in the same page as its neighbour's top. A multiple
// of a stack top's alignment.
constexpr size_t kCanaryRoom = 64;

// Since Linux 6.13; the system's headers may be older.
constexpr int kGuardInstall = 102;

std::atomic<int> guarded_stack_count{0};

size_t PageSize() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t RoundToPages(size_t size) { return (size + PageSize() - 1) / PageSize() * PageSize(); }

void SetCanary(char* low) { std::memcpy(low, &kCanary, sizeof(kCanary)); }

// A thread that ended, or was abandoned at shutdown, has frames that never returned.
// AddressSanitizer would apply their redzones to whatever is next at these addresses: another
// thread, or a mapped file.
void ForgetFrames([[maybe_unused]] char* low, [[maybe_unused]] size_t size) {
#ifdef NEPTUNE_ASAN
  __asan_unpoison_memory_region(low, size);
#endif
}

bool Guard(char* page) { return madvise(page, PageSize(), kGuardInstall) == 0; }

bool KernelHasGuardAdvice() {
  static const bool has = [] {
    void* const page =
        mmap(nullptr, PageSize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    const bool guarded = Guard(static_cast<char*>(page));
    munmap(page, PageSize());
    return guarded;
  }();
  return has;
}

StatusOr<char*> Map(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return ResourceExhausted("mapping a stack of ", size, " bytes: ", std::strerror(errno));
  }
  // A huge page would commit the memory of several stacks for the first byte of one.
  madvise(memory, size, MADV_NOHUGEPAGE);
  return static_cast<char*>(memory);
}

}  // namespace

StackPool::StackPool(size_t stack_size, const StackPoolOptions& options)
    : stack_size_(RoundToPages(stack_size)),
      options_(options),
      guard_advice_(options.guard_advice && KernelHasGuardAdvice()) {}

StackPool::~StackPool() {
  for (const Stack& stack : idle_) {
    if (stack.slab >= 0) continue;
    munmap(stack.low - PageSize(), stack.size + PageSize());
    --guarded_stack_count;
  }
  for (const Slab& slab : slabs_) {
    ForgetFrames(slab.memory, slab.size);
    munmap(slab.memory, slab.size);
  }
}

StatusOr<Stack> StackPool::Take() {
  if (idle_.empty()) {
    if (!guard_advice_ && guarded_stack_count.fetch_add(1) < kGuardedStackCountMax) {
      return MapGuarded();
    }
    if (!guard_advice_) --guarded_stack_count;
    NEPTUNE_RETURN_IF_ERROR(MapSlab(guard_advice_));
  }
  const Stack stack = idle_.back();
  idle_.pop_back();
  if (stack.slab >= 0) ++slabs_[stack.slab].taken_count;
  if (!stack.guarded) SetCanary(stack.low);
  return stack;
}

StatusOr<Stack> StackPool::MapGuarded() {
  StatusOr<char*> memory = Map(stack_size_ + PageSize());
  if (!memory.ok()) {
    --guarded_stack_count;
    return memory.status();
  }
  if (mprotect(*memory, PageSize(), PROT_NONE) != 0) {
    munmap(*memory, stack_size_ + PageSize());
    --guarded_stack_count;
    return ResourceExhausted("guarding a stack: ", std::strerror(errno));
  }
  return Stack{*memory + PageSize(), stack_size_, true};
}

Status StackPool::MapSlab(bool guarded) {
  // One page for each guard, or one page for the neighbour of the last canary.
  const size_t stride = stack_size_ + (guarded ? PageSize() : 0);
  const size_t size = stride * kSlabStackCount + (guarded ? 0 : PageSize());
  NEPTUNE_ASSIGN_OR_RETURN(char* const memory, Map(size));
  const int slab = static_cast<int>(slabs_.size());
  slabs_.push_back({memory, size, 0});
  for (int i = kSlabStackCount - 1; i >= 0; --i) {
    char* const begin = memory + i * stride;
    if (guarded && Guard(begin)) {
      idle_.push_back({begin + PageSize(), stack_size_, true, slab});
    } else {
      idle_.push_back({begin + PageSize() - kCanaryRoom, stack_size_, false, slab});
    }
  }
  return OkStatus();
}

void StackPool::GiveBack(const Stack& stack) {
  CHECK(CanaryIntact(stack)) << "a user-level thread overflowed its stack of " << stack.size
                             << " bytes";
  ForgetFrames(stack.low, stack.size);
  if (stack.slab >= 0) --slabs_[stack.slab].taken_count;
  if (idle_.size() >= options_.idle_count_max) {
    if (stack.slab < 0) {
      munmap(stack.low - PageSize(), stack.size + PageSize());
      --guarded_stack_count;
      return;
    }
    GiveMemoryBack(stack);
  }
  idle_.push_back(stack);
}

void StackPool::GiveMemoryBack(const Stack& stack) {
  const Slab& slab = slabs_[stack.slab];
  if (!stack.guarded && slab.taken_count == 0) {
    madvise(slab.memory, slab.size, MADV_DONTNEED);
    return;
  }
  // Only pages that are entirely its own: those at the ends may also belong to a neighbour.
  const auto address = [](char* place) { return reinterpret_cast<uintptr_t>(place); };
  const size_t past_page = address(stack.low) % PageSize();
  char* const first = stack.low + (past_page == 0 ? 0 : PageSize() - past_page);
  char* const end = stack.top() - address(stack.top()) % PageSize();
  if (first < end) madvise(first, static_cast<size_t>(end - first), MADV_DONTNEED);
}

bool StackPool::CanaryIntact(const Stack& stack) {
  return stack.guarded || std::memcmp(stack.low, &kCanary, sizeof(kCanary)) == 0;
}

}  // namespace neptune
