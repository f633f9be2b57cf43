// The heap memory of one request: allocated without a lock, and let go of all at once when the request is ended early.
//
//   RequestArena ──► chunk 64 KiB ──► chunk ──► large object in a run of its own
//                    ┌────────────────────────────┐
//                    │ owner, live │ size│object │ size│object │ ... bump ►
//                    └────────────────────────────┘
//
//   free by the request's own thread   into the arena's list of that size: used again
//   free by another, or later          counted; the chunk goes when its last object does
//   End                                the request ended as it should: what it left behind stays until it is freed
//   Drop                               it was ended early: everything goes
//
// So a request that ends as it should may leave objects behind, in a cache or a first-use initialiser, and whoever
// frees them later frees them rightly. One that is ended early may not: what must outlive it is allocated outside the
// request (see outside_request in sert.h).
//
// Source: SERT, "Resource Accounting"; design of the runtime.
// Layer: sert. Threads: an arena by one thread at a time; Free and UsableSize by any.
// Units: bytes. Every object is aligned to 16.
// Errors: null when the region is used up or the object too large; the caller then allocates elsewhere.
// Limits: objects of kArenaObjectSizeMax, alignments of kArenaAlignmentMax. Eight bytes an object. Small objects with
//   a larger alignment than 16 are not used again before the request ends.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "neptune/sert/arena_region.h"

namespace neptune {

inline constexpr size_t kArenaObjectSizeMax = kRunSizeMax / 2;
inline constexpr size_t kArenaAlignmentMax = 4096;

class RequestArena {
 public:
  explicit RequestArena(ArenaRegion& region) : region_(region) {}
  // As Drop.
  ~RequestArena();
  RequestArena(const RequestArena&) = delete;
  RequestArena& operator=(const RequestArena&) = delete;

  // REQUIRES: alignment is a power of two.
  void* Allocate(size_t size, size_t alignment = 16);
  // REQUIRES: the region contains `object`, which an arena allocated. `current` is the arena of the request that runs on
  // the calling thread, or null.
  static void Free(void* object, RequestArena* current);
  // At least the size that was asked for. REQUIRES: as Free.
  static size_t UsableSize(const void* object);

  void End();
  void Drop();

  // Of this request, since it began or End or Drop: what was allocated and not freed by it.
  size_t live_count() const { return live_count_; }
  // Of the chunks it holds.
  size_t held_size() const { return held_size_; }

 private:
  struct Chunk;
  struct Header;
  // 16, 32, ... 512, and from there four steps to each power of two.
  static constexpr size_t kSizeClassCount = 56;
  static constexpr size_t kSmallSizeMax = 16 * 1024;
  static size_t ClassOf(size_t size);
  static size_t SizeOf(size_t size_class);
  struct FreeObject {
    FreeObject* next;
  };

  Chunk* AddChunk(size_t size);
  void* Place(Chunk* chunk, size_t offset, size_t size, uint16_t size_class);
  void* AllocateLarge(size_t size, size_t alignment);
  void* AllocateAligned(size_t size, size_t alignment);
  void* Bump(size_t size, uint16_t size_class);
  void FreeOwn(Chunk* chunk, void* object);
  void Release(Chunk* chunk);
  static void FreeForeign(Chunk* chunk);
  void Forget();

  ArenaRegion& region_;
  Chunk* chunks_ = nullptr;   // doubly linked; the first one that is not large is bumped
  Chunk* current_ = nullptr;  // where small objects come from
  size_t live_count_ = 0;
  size_t held_size_ = 0;
  FreeObject* free_[kSizeClassCount] = {};
};

}  // namespace neptune
