// Memory of requests: it is freed by the right owner at the right time, and no blocks overlap.

#include "neptune/sert/request_arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "neptune/world/random_source.h"

namespace neptune {
namespace {

constexpr size_t kRegionSize = size_t{1} << 30;

class RequestArenaTest : public testing::Test {
 protected:
  ArenaRegion region_{kRegionSize};
  RequestArena arena_{region_};
};

TEST_F(RequestArenaTest, ObjectsAreAlignedAndAtLeastAsLargeAsAsked) {
  for (size_t size = 0; size < 100'000; size += 1 + size / 7) {
    void* const object = arena_.Allocate(size);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(object) % 16, 0u);
    EXPECT_TRUE(region_.Contains(object));
    EXPECT_GE(RequestArena::UsableSize(object), size);
    EXPECT_LE(RequestArena::UsableSize(object), std::max<size_t>(16, size + size / 4 + 16));
    memset(object, 0xab, RequestArena::UsableSize(object));
  }
  for (const size_t alignment : {32, 64, 1024, 4096}) {
    for (const size_t size : {size_t{1}, size_t{100}, size_t{5000}, size_t{200'000}}) {
      void* const object = arena_.Allocate(size, alignment);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(object) % alignment, 0u);
      EXPECT_GE(RequestArena::UsableSize(object), size);
      memset(object, 0xcd, RequestArena::UsableSize(object));
      RequestArena::Free(object, &arena_);
    }
  }
}

TEST_F(RequestArenaTest, FreedMemoryOfARequestIsReused) {
  for (const size_t size : {8, 100, 3000, 30'000, 3'000'000}) {
    void* const first = arena_.Allocate(size);
    RequestArena::Free(first, &arena_);
    const size_t held = arena_.held_size();
    for (int i = 0; i < 10'000; ++i) {
      void* const again = arena_.Allocate(size);
      ASSERT_EQ(again, first) << size;
      RequestArena::Free(again, &arena_);
    }
    EXPECT_EQ(arena_.held_size(), held);
  }
  EXPECT_EQ(arena_.live_count(), 0u);
}

TEST_F(RequestArenaTest, AllocationOverTheLimitIsRefused) {
  EXPECT_EQ(arena_.Allocate(kArenaObjectSizeMax + 1), nullptr);
  EXPECT_EQ(arena_.Allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena_.Allocate(1, 2 * kArenaAlignmentMax), nullptr);
  std::vector<void*> objects;
  while (void* const object = arena_.Allocate(100 << 20)) objects.push_back(object);
  EXPECT_GE(objects.size(), 8u);
  while (arena_.Allocate(16 * 1024) != nullptr) {
  }
  EXPECT_LE(region_.taken_size(), kRegionSize);
  arena_.Drop();
  EXPECT_EQ(region_.taken_size(), 0u);
  EXPECT_NE(arena_.Allocate(100 << 20), nullptr);
}

TEST_F(RequestArenaTest, ARequestThatEndsLeavesNothingWhenAllIsFreed) {
  std::vector<void*> objects;
  for (int i = 0; i < 10'000; ++i) objects.push_back(arena_.Allocate(100));
  for (void* const object : objects) RequestArena::Free(object, &arena_);
  EXPECT_GT(region_.taken_size(), 0u);
  arena_.End();
  EXPECT_EQ(region_.taken_size(), 0u);
}

TEST_F(RequestArenaTest, MemoryThatOutlivesARequestLivesUntilItIsFreed) {
  auto* const small = static_cast<char*>(arena_.Allocate(6));
  auto* const large = static_cast<char*>(arena_.Allocate(1 << 20));
  memcpy(small, "hello", 6);
  large[1 << 19] = 'x';
  for (int i = 0; i < 1000; ++i) RequestArena::Free(arena_.Allocate(500), &arena_);
  arena_.End();
  const size_t left = region_.taken_size();
  EXPECT_GT(left, size_t{1} << 20);
  // The next request, on the same arena.
  memset(arena_.Allocate(10'000), 0xee, 10'000);
  EXPECT_STREQ(small, "hello");
  EXPECT_EQ(large[1 << 19], 'x');
  RequestArena::Free(small, &arena_);
  RequestArena::Free(large, &arena_);
  arena_.Drop();
  EXPECT_EQ(region_.taken_size(), 0u);
}

TEST_F(RequestArenaTest, ARequestEndedEarlyLeavesNothing) {
  for (int i = 0; i < 10'000; ++i) arena_.Allocate(static_cast<size_t>(i));
  arena_.Allocate(5 << 20);
  arena_.Drop();
  EXPECT_EQ(region_.taken_size(), 0u);
  EXPECT_EQ(arena_.live_count(), 0u);
}

TEST_F(RequestArenaTest, OthersFreeWhatTheRequestAllocated) {
  std::vector<void*> objects;
  for (int i = 0; i < 100'000; ++i) objects.push_back(arena_.Allocate(64));
  std::thread other([&] {
    for (size_t i = 0; i < objects.size(); i += 2) RequestArena::Free(objects[i], nullptr);
  });
  for (size_t i = 1; i < objects.size(); i += 4) RequestArena::Free(objects[i], &arena_);
  arena_.End();
  other.join();
  EXPECT_GT(region_.taken_size(), 0u);
  std::thread later([&] {
    for (size_t i = 3; i < objects.size(); i += 4) RequestArena::Free(objects[i], nullptr);
  });
  later.join();
  EXPECT_EQ(region_.taken_size(), 0u);
}

TEST(RequestArenaDeathTest, FreeingTwiceStopsTheProgram) {
  ArenaRegion region(kRegionSize);
  RequestArena arena(region);
  void* const object = arena.Allocate(100);
  RequestArena::Free(object, &arena);
  EXPECT_DEATH(RequestArena::Free(object, &arena), "");
}

// Three arenas, objects of all sizes, freed by their own request, by another's, after the end; each
// holds its pattern.
TEST(RequestArenaPropertyTest, ObjectsNeverOverlapAndAllMemoryComesBack) {
  struct Object {
    unsigned char* at;
    size_t size;
    unsigned char pattern;
  };
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    RandomSource random(seed);
    ArenaRegion region(kRegionSize);
    RequestArena arenas[3] = {RequestArena(region), RequestArena(region), RequestArena(region)};
    std::vector<Object> objects;
    const auto free_one = [&](size_t index, RequestArena* current) {
      const Object object = objects[index];
      for (size_t i = 0; i < object.size; ++i) ASSERT_EQ(object.at[i], object.pattern);
      RequestArena::Free(object.at, current);
      objects[index] = objects.back();
      objects.pop_back();
    };
    for (int step = 0; step < 20'000; ++step) {
      RequestArena& arena = arenas[random.Below(3)];
      const uint64_t what = random.Below(1000);
      if (what == 0) {
        arena.End();
      } else if (what < 500 || objects.empty()) {
        const size_t size = random.Below(100) == 0 ? random.Below(300'000) : random.Below(400);
        const size_t alignment = random.Below(10) == 0 ? size_t{16} << random.Below(9) : 16;
        auto* const at = static_cast<unsigned char*>(arena.Allocate(size, alignment));
        ASSERT_NE(at, nullptr);
        const auto pattern = static_cast<unsigned char>(step);
        memset(at, pattern, size);
        objects.push_back({at, size, pattern});
      } else {
        free_one(random.Below(objects.size()), random.Below(4) == 0 ? nullptr : &arena);
      }
    }
    while (!objects.empty()) free_one(objects.size() - 1, nullptr);
    for (RequestArena& arena : arenas) arena.End();
    EXPECT_EQ(region.taken_size(), 0u);
  }
}

TEST(ArenaRegionTest, RunsAreAlignedAndUsedAgain) {
  ArenaRegion region(kRegionSize);
  for (size_t chunks = 1; chunks <= 600; chunks += 1 + chunks / 9) {
    size_t taken = 0;
    void* const run = region.Take(chunks * kArenaChunkSize, &taken);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(ArenaRegion::ChunkOf(run), run);
    EXPECT_GE(taken, chunks * kArenaChunkSize);
    EXPECT_LE(taken, chunks * kArenaChunkSize * 5 / 4);
    memset(run, 1, taken);
    region.Give(run, taken);
    size_t again = 0;
    EXPECT_EQ(region.Take(chunks * kArenaChunkSize, &again), run);
    EXPECT_EQ(again, taken);
    region.Give(run, again);
  }
  EXPECT_EQ(region.taken_size(), 0u);
}

TEST(ArenaRegionTest, ContainsWhatItGivesAndNothingElse) {
  ArenaRegion region(kRegionSize);
  size_t taken = 0;
  auto* const run = static_cast<unsigned char*>(region.Take(1, &taken));
  EXPECT_TRUE(region.Contains(run));
  EXPECT_TRUE(region.Contains(run + taken - 1));
  EXPECT_FALSE(region.Contains(run + kRegionSize));
  EXPECT_FALSE(region.Contains(run - 1));
  EXPECT_FALSE(region.Contains(nullptr));
  int on_stack = 0;
  EXPECT_FALSE(region.Contains(&on_stack));
  region.Give(run, taken);
}

TEST(ArenaRegionTest, ARegionThatWasNotToBeHadGivesNothing) {
  ArenaRegion region(SIZE_MAX / 2);
  size_t taken = 0;
  EXPECT_EQ(region.Take(1, &taken), nullptr);
  EXPECT_FALSE(region.Contains(&taken));
  RequestArena arena(region);
  EXPECT_EQ(arena.Allocate(1), nullptr);
}

}  // namespace
}  // namespace neptune
