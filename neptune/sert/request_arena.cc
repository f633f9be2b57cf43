#include "neptune/sert/request_arena.h"

#include <bit>
#include <cstdlib>
#include <new>

namespace neptune {

RequestArena::~RequestArena() { Drop(); }

size_t RequestArena::ClassOf(size_t size) {
  if (size <= kTinySizeMax) return size == 0 ? 0 : (size - 1) / 16;
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
  chunk->next = chunks_;
  if (chunks_ != nullptr) chunks_->before = chunk;
  chunks_ = chunk;
  held_size_ += taken;
  return chunk;
}

bool RequestArena::AddRoom() {
  Chunk* const chunk = AddChunk(kArenaChunkSize);
  if (chunk == nullptr) return false;
  current_ = chunk;
  next_ = reinterpret_cast<unsigned char*>(chunk + 1);
  room_ = kArenaChunkSize - sizeof(Chunk);
  return true;
}

void* RequestArena::AllocateLarge(size_t size, size_t alignment) {
  const size_t offset = (sizeof(Chunk) + sizeof(Header) + alignment - 1) & ~(alignment - 1);
  const size_t rounded = (size + 15) & ~size_t{15};
  Chunk* const chunk = AddChunk(offset + rounded);
  if (chunk == nullptr) return nullptr;
  chunk->is_large = true;
  return Place(chunk, reinterpret_cast<unsigned char*>(chunk) + offset, rounded, kNoClass);
}

void* RequestArena::AllocateAligned(size_t size, size_t alignment) {
  // Allocates a larger object and places an aligned one in it; the header moves to just before
  // that.
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

void* RequestArena::AllocateOther(size_t size, size_t alignment) {
  if (size > kArenaObjectSizeMax || alignment > kArenaAlignmentMax) return nullptr;
  if (size > kSmallSizeMax) return AllocateLarge(size, alignment);
  if (alignment > 16) return AllocateAligned(size, alignment);
  const size_t size_class = ClassOf(size);
  if (FreeObject* const free = free_[size_class]) {
    free_[size_class] = free->next;
    Header::Of(free)->mark = kMark;
    ++static_cast<Chunk*>(ArenaRegion::ChunkOf(free))->live;
    return free;
  }
  return Bump(SizeOf(size_class), static_cast<uint16_t>(size_class));
}

void RequestArena::FreeOther(Chunk* chunk, bool is_own) {
  if (!is_own) return FreeForeign(chunk);
  --chunk->live;
  if (chunk->is_large) chunk->owner.load(std::memory_order_relaxed)->Release(chunk);
}

void RequestArena::Release(Chunk* chunk) {
  if (chunk->next != nullptr) chunk->next->before = chunk->before;
  (chunk->before != nullptr ? chunk->before->next : chunks_) = chunk->next;
  held_size_ -= chunk->size;
  region_.Give(chunk, chunk->size);
}

void RequestArena::FreeForeign(Chunk* chunk) {
  // After the end of the request, the thread that frees the last object sees a remaining count of
  // one.
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
    // From here on, the thread that frees the last object may free the chunk.
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
  next_ = nullptr;
  room_ = 0;
  held_size_ = 0;
  for (FreeObject*& free : free_) free = nullptr;
}

size_t RequestArena::live_count() const {
  size_t count = 0;
  for (const Chunk* chunk = chunks_; chunk != nullptr; chunk = chunk->next) count += chunk->live;
  return count;
}

size_t RequestArena::UsableSize(const void* object) {
  return size_t{Header::Of(object)->size} * 16;
}

}  // namespace neptune
