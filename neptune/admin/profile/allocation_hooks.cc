// Operators new and delete for programs whose allocations may be sampled (allocation_sampler.h).
// They use the C library's memory, like the compiler's own operators. All other forms call these,
// except those with a size, which a sanitizer would take over.

#include <cstdlib>
#include <new>

#include "neptune/admin/profile/allocation_sampler.h"

namespace neptune {
namespace {

[[maybe_unused]] const bool registered = RegisterAllocationHooks();

template <typename Allocate>
void* AllocateOrThrow(size_t size, const Allocate& allocate) {
  void* memory = allocate();
  while (memory == nullptr) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    memory = allocate();
  }
  if (allocations_are_sampled.load(std::memory_order_relaxed)) [[unlikely]] {
    SampleAllocation(memory, size);
  }
  return memory;
}

void Free(void* memory) {
  if (allocations_are_sampled.load(std::memory_order_relaxed)) [[unlikely]] {
    ForgetAllocation(memory);
  }
  std::free(memory);
}

}  // namespace
}  // namespace neptune

void* operator new(size_t size) {
  return neptune::AllocateOrThrow(size, [size] { return std::malloc(size == 0 ? 1 : size); });
}

void* operator new(size_t size, std::align_val_t alignment) {
  const auto boundary = static_cast<size_t>(alignment);
  const size_t whole = size == 0 ? boundary : (size + boundary - 1) / boundary * boundary;
  return neptune::AllocateOrThrow(
      size, [=] { return whole < size ? nullptr : std::aligned_alloc(boundary, whole); });
}

void operator delete(void* memory) noexcept { neptune::Free(memory); }
void operator delete(void* memory, size_t) noexcept { neptune::Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { neptune::Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { neptune::Free(memory); }
