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

std::atomic<int> guarded_stack_count{0};

size_t PageSize() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t RoundToPages(size_t size) { return (size + PageSize() - 1) / PageSize() * PageSize(); }

void SetCanary(char* low) { std::memcpy(low, &kCanary, sizeof(kCanary)); }

// A thread that ended has frames that never returned. AddressSanitizer would hold their borders against
// whatever is next at these addresses: another thread, or a file that is mapped there.
void ForgetFrames([[maybe_unused]] const Stack& stack) {
#ifdef NEPTUNE_ASAN
  __asan_unpoison_memory_region(stack.low, stack.size);
#endif
}

StatusOr<char*> Map(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return ResourceExhausted("mapping a stack of ", size, " bytes: ", std::strerror(errno));
  }
  return static_cast<char*>(memory);
}

}  // namespace

StackPool::StackPool(size_t stack_size, size_t idle_count_max)
    : stack_size_(RoundToPages(stack_size)), idle_count_max_(idle_count_max) {}

StackPool::~StackPool() {
  for (const Stack& stack : idle_) {
    if (!stack.guarded) continue;
    munmap(stack.low - PageSize(), stack.size + PageSize());
    --guarded_stack_count;
  }
  for (const auto& [memory, size] : mappings_of_slabs_) munmap(memory, size);
}

StatusOr<Stack> StackPool::Take() {
  if (idle_.empty()) {
    if (guarded_stack_count.fetch_add(1) < kGuardedStackCountMax) return MapGuarded();
    --guarded_stack_count;
    NEPTUNE_RETURN_IF_ERROR(MapSlab());
  }
  const Stack stack = idle_.back();
  idle_.pop_back();
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

Status StackPool::MapSlab() {
  NEPTUNE_ASSIGN_OR_RETURN(char* const slab, Map(stack_size_ * kSlabStackCount));
  mappings_of_slabs_.emplace_back(slab, stack_size_ * kSlabStackCount);
  for (int i = 0; i < kSlabStackCount; ++i) {
    const Stack stack{slab + i * stack_size_, stack_size_, false};
    SetCanary(stack.low);
    idle_.push_back(stack);
  }
  return OkStatus();
}

void StackPool::GiveBack(const Stack& stack) {
  CHECK(CanaryIntact(stack)) << "a user-level thread overflowed its stack of " << stack.size
                             << " bytes";
  ForgetFrames(stack);
  if (idle_.size() >= idle_count_max_) {
    if (stack.guarded) {
      munmap(stack.low - PageSize(), stack.size + PageSize());
      --guarded_stack_count;
      return;
    }
    madvise(stack.low, stack.size, MADV_DONTNEED);
    SetCanary(stack.low);
  }
  idle_.push_back(stack);
}

bool StackPool::CanaryIntact(const Stack& stack) {
  return stack.guarded || std::memcmp(stack.low, &kCanary, sizeof(kCanary)) == 0;
}

}  // namespace neptune
