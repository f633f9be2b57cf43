#include "neptune/sert/request_arena.h"

#include <bit>
#include <cstdlib>
#include <new>

namespace neptune {

namespace {
constexpr uint16_t kNoClass =
    0xffff;  // an object that is not used again: aligned, or in a run of its own
constexpr uint16_t kMark = 0x5e27;
constexpr uint16_t kFreed = 0xdead;
}  // namespace

// At the beginning of a run.
struct alignas(64) RequestArena::Chunk {
  ArenaRegion* region = nullptr;
  // Null once the request has ended. Only the thread that runs the owner's request finds its own arena here.
  std::atomic<RequestArena*> owner{nullptr};
  Chunk* next = nullptr;
  Chunk* before = nullptr;
  size_t size = 0;
  bool is_large = false;  // one object in a run of its own
  uint32_t used = 0;      // of the first chunk of the run, from its beginning
  uint32_t live = 0;      // allocated and not freed by the owner
  // Freed by others, as a negative number, while it is owned; then the objects that are left.
  std::atomic<int64_t> left{0};
};

// Before each object.
struct RequestArena::Header {
  uint32_t size = 0;  // usable, in units of 16
  uint16_t size_class = 0;
  uint16_t mark = 0;

  static Header* Of(const void* object) {
    return static_cast<Header*>(const_cast<void*>(object)) - 1;
  }
};

RequestArena::~RequestArena() { Drop(); }

size_t RequestArena::ClassOf(size_t size) {
  if (size <= 512) return size == 0 ? 0 : (size - 1) / 16;
  const auto octave = static_cast<size_t>(std::bit_width(size - 1)) - 10;  // 0: 513 to 1,024
  const size_t step = size_t{128} << octave;
  return 32 + 4 * octave + (size - (size_t{512} << octave) + step - 1) / step - 1;
}

size_t RequestArena::SizeOf(size_t size_class) {
  if (size_class < 32) return 16 * (size_class + 1);
  const size_t octave = (size_class - 32) / 4;
  return (size_t{512} << octave) + ((size_class - 32) % 4 + 1) * (size_t{128} << octave);
}

RequestArena::Chunk* RequestArena::AddChunk(size_t size) {
  size_t taken = 0;
  void* const run = region_.Take(size, &taken);
  if (run == nullptr) return nullptr;
  auto* const chunk = new (run) Chunk();
  chunk->region = &region_;
  chunk->owner.store(this, std::memory_order_relaxed);
  chunk->size = taken;
  chunk->used = sizeof(Chunk);
  chunk->next = chunks_;
  if (chunks_ != nullptr) chunks_->before = chunk;
  chunks_ = chunk;
  held_size_ += taken;
  return chunk;
}

void* RequestArena::Place(Chunk* chunk, size_t offset, size_t size, uint16_t size_class) {
  auto* const object = reinterpret_cast<unsigned char*>(chunk) + offset;
  new (Header::Of(object)) Header{static_cast<uint32_t>(size / 16), size_class, kMark};
  ++chunk->live;
  ++live_count_;
  return object;
}

void* RequestArena::Bump(size_t size, uint16_t size_class) {
  // A header, and the object on the next multiple of 16.
  const auto offset_in = [&](const Chunk* chunk) {
    return (chunk->used + sizeof(Header) + 15) & ~size_t{15};
  };
  if (current_ == nullptr || offset_in(current_) + size > kArenaChunkSize) {
    Chunk* const chunk = AddChunk(kArenaChunkSize);
    if (chunk == nullptr) return nullptr;
    current_ = chunk;
  }
  const size_t offset = offset_in(current_);
  current_->used = static_cast<uint32_t>(offset + size);
  return Place(current_, offset, size, size_class);
}

void* RequestArena::AllocateLarge(size_t size, size_t alignment) {
  const size_t offset = (sizeof(Chunk) + sizeof(Header) + alignment - 1) & ~(alignment - 1);
  const size_t rounded = (size + 15) & ~size_t{15};
  Chunk* const chunk = AddChunk(offset + rounded);
  if (chunk == nullptr) return nullptr;
  chunk->is_large = true;
  return Place(chunk, offset, rounded, kNoClass);
}

void* RequestArena::AllocateAligned(size_t size, size_t alignment) {
  // Somewhere in an object that is large enough; its header moves to just before that.
  void* const object = Bump(((size + 15) & ~size_t{15}) + alignment, kNoClass);
  if (object == nullptr) return nullptr;
  const auto at = reinterpret_cast<uintptr_t>(object);
  const uintptr_t aligned = (at + alignment - 1) & ~(alignment - 1);
  Header* const header = Header::Of(object);
  const auto size_left = static_cast<uint32_t>(header->size - (aligned - at) / 16);
  auto* const moved = reinterpret_cast<void*>(aligned);
  new (Header::Of(moved)) Header{size_left, kNoClass, kMark};
  return moved;
}

void* RequestArena::Allocate(size_t size, size_t alignment) {
  if (size > kArenaObjectSizeMax || alignment > kArenaAlignmentMax) return nullptr;
  if (size > kSmallSizeMax) return AllocateLarge(size, alignment < 16 ? 16 : alignment);
  if (alignment > 16) return AllocateAligned(size, alignment);
  const size_t size_class = ClassOf(size);
  if (FreeObject* const free = free_[size_class]) {
    free_[size_class] = free->next;
    Header::Of(free)->mark = kMark;
    ++static_cast<Chunk*>(ArenaRegion::ChunkOf(free))->live;
    ++live_count_;
    return free;
  }
  return Bump(SizeOf(size_class), static_cast<uint16_t>(size_class));
}

void RequestArena::Free(void* object, RequestArena* current) {
  auto* const chunk = static_cast<Chunk*>(ArenaRegion::ChunkOf(object));
  Header* const header = Header::Of(object);
  if (header->mark != kMark) std::abort();  // freed twice, or overwritten: as malloc answers it
  header->mark = kFreed;
  if (current != nullptr && chunk->owner.load(std::memory_order_relaxed) == current) {
    current->FreeOwn(chunk, object);
  } else {
    FreeForeign(chunk);
  }
}

void RequestArena::FreeOwn(Chunk* chunk, void* object) {
  --chunk->live;
  --live_count_;
  const uint16_t size_class = Header::Of(object)->size_class;
  if (size_class != kNoClass) {
    free_[size_class] = new (object) FreeObject{free_[size_class]};
  } else if (chunk->is_large) {
    Release(chunk);
  }
}

void RequestArena::Release(Chunk* chunk) {
  if (chunk->next != nullptr) chunk->next->before = chunk->before;
  (chunk->before != nullptr ? chunk->before->next : chunks_) = chunk->next;
  held_size_ -= chunk->size;
  region_.Give(chunk, chunk->size);
}

void RequestArena::FreeForeign(Chunk* chunk) {
  // Whoever frees the last one after the end of the request finds one left.
  if (chunk->left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    chunk->region->Give(chunk, chunk->size);
  }
}

void RequestArena::End() {
  Chunk* chunk = chunks_;
  while (chunk != nullptr) {
    Chunk* const next = chunk->next;
    chunk->owner.store(nullptr, std::memory_order_relaxed);
    const auto live = static_cast<int64_t>(chunk->live);
    const size_t size = chunk->size;
    // From here on the last one that frees may give the chunk back.
    if (chunk->left.fetch_add(live, std::memory_order_acq_rel) + live == 0) {
      region_.Give(chunk, size);
    }
    chunk = next;
  }
  Forget();
}

void RequestArena::Drop() {
  Chunk* chunk = chunks_;
  while (chunk != nullptr) {
    Chunk* const next = chunk->next;
    region_.Give(chunk, chunk->size);
    chunk = next;
  }
  Forget();
}

void RequestArena::Forget() {
  chunks_ = nullptr;
  current_ = nullptr;
  live_count_ = 0;
  held_size_ = 0;
  for (FreeObject*& free : free_) free = nullptr;
}

size_t RequestArena::UsableSize(const void* object) {
  return size_t{Header::Of(object)->size} * 16;
}

}  // namespace neptune
