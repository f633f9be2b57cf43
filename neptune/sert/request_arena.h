// The heap memory of one request: allocated without locks, and released at once when the request is
// ended early.
//
//   RequestArena ──► chunk 64 KiB ──► chunk ──► large object in a run of its own
//                    ┌────────────────────────────┐
//                    │ owner, live │ size│object │ size│object │ ... bump ►
//                    └────────────────────────────┘
//
//   free by the request's own thread   added to the arena's free list of that size, and reused
//   free by another thread, or later   counted; the chunk is freed together with its last object
//   End                                normal end: remaining objects live until they are freed
//   Drop                               early end: everything is released
//
// A request that ends normally may therefore leave objects behind, in a cache or a first-use
// initialiser, and any code may free them later. A request that is ended early may not: objects
// that must outlive it have to be allocated outside of the request (SERT_begin_outside in sert.h).
//
// Source: [Zhou06], "Resource Accounting".
// Threads: an arena is used by one thread at a time; Free and UsableSize by any thread.
// Units: bytes. Every object is aligned to 16.
// Errors: null if the region is exhausted or the object too large; the caller then allocates
//   elsewhere.
// Limits: objects of kArenaObjectSizeMax, alignments of kArenaAlignmentMax. The overhead is eight
//   bytes per object. Small objects with an alignment above 16 are not reused before the request
//   ends.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "neptune/sert/arena_region.h"

namespace neptune {

inline constexpr size_t kArenaObjectSizeMax = kRunSizeMax / 2;
inline constexpr size_t kArenaAlignmentMax = 4096;

class RequestArena {
 public:
  explicit RequestArena(ArenaRegion& region) : region_(region) {}
  // Releases everything, as Drop.
  ~RequestArena();
  RequestArena(const RequestArena&) = delete;
  RequestArena& operator=(const RequestArena&) = delete;

  void* Allocate(size_t size) {
    if (size > kTinySizeMax) return AllocateOther(size, 16);
    const size_t size_class = size == 0 ? 0 : (size - 1) / 16;
    if (FreeObject* const free = free_[size_class]) {
      free_[size_class] = free->next;
      Header::Of(free)->mark = kMark;
      ++static_cast<Chunk*>(ArenaRegion::ChunkOf(free))->live;
      return free;
    }
    return Bump(16 * (size_class + 1), static_cast<uint16_t>(size_class));
  }
  // REQUIRES: alignment is a power of two.
  void* Allocate(size_t size, size_t alignment) {
    return alignment <= 16 ? Allocate(size) : AllocateOther(size, alignment);
  }
  // Frees an object. REQUIRES: an arena of this region allocated it. `current` is the arena of the
  // calling thread's request, or null.
  static void Free(void* object, RequestArena* current) {
    auto* const chunk = static_cast<Chunk*>(ArenaRegion::ChunkOf(object));
    Header* const header = Header::Of(object);
    if (header->mark != kMark) std::abort();  // double free or corruption; aborts like malloc
    header->mark = kFreed;
    const uint16_t size_class = header->size_class;
    const bool is_own =
        current != nullptr && chunk->owner.load(std::memory_order_relaxed) == current;
    if (!is_own || size_class == kNoClass) return FreeOther(chunk, is_own);
    --chunk->live;
    current->free_[size_class] = new (object) FreeObject{current->free_[size_class]};
  }
  // Returns at least the requested size. REQUIRES: as Free.
  static size_t UsableSize(const void* object);

  void End();
  void Drop();

  // Number of objects that this request allocated and did not free, since its start, End or Drop.
  size_t live_count() const;
  // Total size of its chunks.
  size_t held_size() const { return held_size_; }

 private:
  // Class of objects that are not reused: aligned ones, or ones in a run of their own.
  static constexpr uint16_t kNoClass = 0xffff;
  static constexpr uint16_t kMark = 0x5e27;
  static constexpr uint16_t kFreed = 0xdead;

  // Header of a run.
  struct alignas(64) Chunk {
    ArenaRegion* region = nullptr;
    // Null once the request has ended. Equals the caller's arena only on the thread of the owning
    // request.
    std::atomic<RequestArena*> owner{nullptr};
    uint32_t live = 0;      // allocated and not freed by the owner
    bool is_large = false;  // one object in a run of its own
    // While owned: minus the number of objects freed by other threads; afterwards: the remaining
    // objects.
    std::atomic<int64_t> left{0};
    Chunk* next = nullptr;
    Chunk* before = nullptr;
    size_t size = 0;
  };
  // Header of an object.
  struct Header {
    uint32_t size = 0;  // usable, in units of 16
    uint16_t size_class = 0;
    uint16_t mark = 0;

    static Header* Of(const void* object) {
      return static_cast<Header*>(const_cast<void*>(object)) - 1;
    }
  };
  // The header occupies the last 8 of these bytes, so that objects are aligned to 16.
  static constexpr size_t kRoomOfHeader = 16;

  // Size classes are 16, 32, ... 512, and from there four steps per power of two.
  static constexpr size_t kTinySizeMax = 512;
  static constexpr size_t kSizeClassCount = 56;
  static constexpr size_t kSmallSizeMax = 16 * 1024;
  static size_t ClassOf(size_t size);
  static size_t SizeOf(size_t size_class);
  struct FreeObject {
    FreeObject* next;
  };

  void* Bump(size_t size, uint16_t size_class) {
    if (room_ < size + kRoomOfHeader && !AddRoom()) return nullptr;
    unsigned char* const object = next_ + kRoomOfHeader;
    next_ = object + size;
    room_ -= size + kRoomOfHeader;
    return Place(current_, object, size, size_class);
  }
  static void* Place(Chunk* chunk, unsigned char* object, size_t size, uint16_t size_class) {
    new (Header::Of(object)) Header{static_cast<uint32_t>(size / 16), size_class, kMark};
    ++chunk->live;
    return object;
  }
  // Allocates objects that are not tiny or have an unusual alignment.
  void* AllocateOther(size_t size, size_t alignment);
  Chunk* AddChunk(size_t size);
  bool AddRoom();
  void* AllocateLarge(size_t size, size_t alignment);
  void* AllocateAligned(size_t size, size_t alignment);
  static void FreeOther(Chunk* chunk, bool is_own);
  void Release(Chunk* chunk);
  static void FreeForeign(Chunk* chunk);
  void Forget();

  ArenaRegion& region_;
  Chunk* chunks_ = nullptr;   // doubly linked
  Chunk* current_ = nullptr;  // chunk for small objects
  unsigned char* next_ = nullptr;
  size_t room_ = 0;
  size_t held_size_ = 0;
  FreeObject* free_[kSizeClassCount] = {};
};

}  // namespace neptune
