// Allocation: a request's memory comes from its arena.
//
// Ownership: memory that the C library allocates for itself (buffers of streams, thread-local
// objects, time zones) stays when the request is ended early. Memory that it returns to the program
// (strdup, getline, regcomp: stream_symbols.cc) belongs to the request, like all memory allocated
// by others.

#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "neptune/interpose/sert/next.h"
#include "neptune/sert/code_ranges.h"
#include "neptune/sert/request_arena.h"
#include "neptune/sert/request_record.h"

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* object, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* object);
}

namespace neptune::sert {
namespace {

// The request that owns memory allocated by `caller`, or null.
RequestRecord* OwnerFor(const void* caller) {
  RequestRecord* const record = accounting_record;
  if (record == nullptr) return nullptr;
  if (record->library_call > 0) return stream_buffer_code.Contains(caller) ? nullptr : record;
  return record->depth != 0 || library_code.Contains(caller) ? nullptr : record;
}

// The arena's functions need no Region: they call no interposed function, and no request is ended
// inside this library's own code. Their end is a check nevertheless.
inline void Check(RequestRecord* record, const void* caller) {
  if (record->armed != 0) [[unlikely]]
    TerminateAtCheck(record, caller);
}

void* AllocateFor(RequestRecord* record, size_t size, size_t alignment, const void* caller) {
  void* const object = record->arena.Allocate(size, alignment);
  Check(record, caller);
  return object;
}

bool IsArenas(const void* object) { return process_arena_region.Contains(object); }

__attribute__((noinline)) void* AllocateForOthers(size_t size, const void* caller) {
  RequestRecord* const record = OwnerFor(caller);
  if (record != nullptr) {
    if (void* const object = AllocateFor(record, size, 16, caller)) return object;
  }
  return __libc_malloc(size);
}

// Fast path: most calls come from the program itself, which one comparison detects.
inline void* Allocate(size_t size, const void* caller) {
  RequestRecord* const record = accounting_record;
  if (record == nullptr) return __libc_malloc(size);
  if (record->depth != 0 || !program_code.IsInFirst(caller)) [[unlikely]] {
    return AllocateForOthers(size, caller);
  }
  void* const object = record->arena.Allocate(size);
  if (object == nullptr) [[unlikely]]
    return __libc_malloc(size);
  Check(record, caller);
  return object;
}

void* AllocateAligned(size_t alignment, size_t size, const void* caller) {
  RequestRecord* const record = OwnerFor(caller);
  if (record != nullptr) {
    if (void* const object = AllocateFor(record, size, alignment, caller)) return object;
  }
  return __libc_memalign(alignment, size);
}

void* AllocateZeroed(size_t count, size_t size, const void* caller) {
  RequestRecord* const record = OwnerFor(caller);
  size_t bytes = 0;
  if (record != nullptr && !__builtin_mul_overflow(count, size, &bytes)) {
    if (void* const object = AllocateFor(record, bytes, 16, caller))
      return memset(object, 0, bytes);
  }
  return __libc_calloc(count, size);
}

inline void Free(void* object, const void* caller) {
  if (!IsArenas(object)) return __libc_free(object);
  RequestRecord* const record = accounting_record;
  if (record == nullptr) return RequestArena::Free(object, nullptr);
  RequestArena::Free(object, &record->arena);
  Check(record, caller);
}

void* Reallocate(void* object, size_t size, const void* caller) {
  if (object == nullptr) return Allocate(size, caller);
  if (!IsArenas(object)) return __libc_realloc(object, size);  // keeps its owner
  if (size == 0) {
    Free(object, caller);
    return nullptr;
  }
  const size_t usable = RequestArena::UsableSize(object);
  if (size <= usable && size > usable / 2) return object;
  // The caller may differ from the owner; the new block is allocated for the caller.
  RequestRecord* const record = accounting_record;
  void* moved = nullptr;
  if (record != nullptr && (record->depth == 0 || record->library_call > 0)) {
    const Region region(record, nullptr);
    moved = record->arena.Allocate(size);
  }
  if (moved == nullptr) moved = __libc_malloc(size);
  if (moved == nullptr) return nullptr;
  memcpy(moved, object, size < usable ? size : usable);
  Free(object, caller);
  return moved;
}

bool IsPowerOfTwo(size_t number) { return number != 0 && (number & (number - 1)) == 0; }

template <typename Attempt>
void* New(Attempt attempt) {
  while (true) {
    if (void* const object = attempt()) return object;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace
}  // namespace neptune::sert

using neptune::sert::Allocate;
using neptune::sert::AllocateAligned;
using neptune::sert::AllocateZeroed;
using neptune::sert::Free;
using neptune::sert::IsArenas;
using neptune::sert::IsPowerOfTwo;
using neptune::sert::New;
using neptune::sert::Reallocate;

#define CALLER __builtin_return_address(0)

NEPTUNE_SERT_SYMBOL void* malloc(size_t size) { return Allocate(size, CALLER); }
NEPTUNE_SERT_SYMBOL void free(void* object) { Free(object, CALLER); }
NEPTUNE_SERT_SYMBOL void* calloc(size_t count, size_t size) {
  return AllocateZeroed(count, size, CALLER);
}
NEPTUNE_SERT_SYMBOL void* realloc(void* object, size_t size) {
  return Reallocate(object, size, CALLER);
}
NEPTUNE_SERT_SYMBOL void* reallocarray(void* object, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) return Reallocate(object, bytes, CALLER);
  errno = ENOMEM;
  return nullptr;
}
NEPTUNE_SERT_SYMBOL void* memalign(size_t alignment, size_t size) {
  return AllocateAligned(alignment, size, CALLER);
}
NEPTUNE_SERT_SYMBOL void* aligned_alloc(size_t alignment, size_t size) {
  return AllocateAligned(alignment, size, CALLER);
}
NEPTUNE_SERT_SYMBOL int posix_memalign(void** object, size_t alignment, size_t size) {
  if (!IsPowerOfTwo(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  void* const allocated = AllocateAligned(alignment, size, CALLER);
  if (allocated == nullptr) return ENOMEM;
  *object = allocated;
  return 0;
}
NEPTUNE_SERT_SYMBOL void* valloc(size_t size) {
  return AllocateAligned(static_cast<size_t>(getpagesize()), size, CALLER);
}
NEPTUNE_SERT_SYMBOL size_t malloc_usable_size(void* object) noexcept {
  static neptune::sert::Next<size_t(void*)> next("malloc_usable_size");
  return IsArenas(object) ? neptune::RequestArena::UsableSize(object) : next(object);
}

// The standard library's versions would call malloc from code in which no check is made.
void* operator new(size_t size) {
  const void* const caller = CALLER;
  return New([&] { return Allocate(size, caller); });
}
void* operator new[](size_t size) {
  const void* const caller = CALLER;
  return New([&] { return Allocate(size, caller); });
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size, CALLER); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size, CALLER); }
void* operator new(size_t size, std::align_val_t alignment) {
  const void* const caller = CALLER;
  return New([&] { return AllocateAligned(static_cast<size_t>(alignment), size, caller); });
}
void* operator new[](size_t size, std::align_val_t alignment) {
  const void* const caller = CALLER;
  return New([&] { return AllocateAligned(static_cast<size_t>(alignment), size, caller); });
}
void operator delete(void* object) noexcept { Free(object, CALLER); }
void operator delete[](void* object) noexcept { Free(object, CALLER); }
void operator delete(void* object, size_t) noexcept { Free(object, CALLER); }
void operator delete[](void* object, size_t) noexcept { Free(object, CALLER); }
void operator delete(void* object, std::align_val_t) noexcept { Free(object, CALLER); }
void operator delete[](void* object, std::align_val_t) noexcept { Free(object, CALLER); }
void operator delete(void* object, size_t, std::align_val_t) noexcept { Free(object, CALLER); }
void operator delete[](void* object, size_t, std::align_val_t) noexcept { Free(object, CALLER); }
