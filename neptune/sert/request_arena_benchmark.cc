// Memory of a request beside the system's: what a request allocates, touches and frees.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "neptune/sert/request_arena.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

constexpr int kObjectCount = 200;
ArenaRegion region(kArenaRegionSize);

std::vector<size_t> Sizes() {
  RandomSource random(1);
  std::vector<size_t> sizes;
  for (int i = 0; i < kObjectCount; ++i) sizes.push_back(16 + random.Below(400));
  return sizes;
}

template <typename Allocate, typename Free>
void RunRequest(const std::vector<size_t>& sizes, Allocate allocate, Free free) {
  void* objects[kObjectCount];
  for (int i = 0; i < kObjectCount; ++i) {
    objects[i] = allocate(sizes[i]);
    *static_cast<char*>(objects[i]) = 1;
    if (i % 3 == 2) free(std::exchange(objects[i - 1], nullptr));
  }
  benchmark::ClobberMemory();
  for (void* const object : objects) {
    if (object != nullptr) free(object);
  }
}

void BM_SystemsMemory(benchmark::State& state) {
  const std::vector<size_t> sizes = Sizes();
  for (auto _ : state) {
    RunRequest(
        sizes, [](size_t size) { return malloc(size); }, [](void* at) { free(at); });
  }
  state.SetItemsProcessed(state.iterations() * kObjectCount);
}
BENCHMARK(BM_SystemsMemory);

void BM_RequestsMemory(benchmark::State& state) {
  const std::vector<size_t> sizes = Sizes();
  RequestArena arena(region);
  for (auto _ : state) {
    RunRequest(
        sizes, [&](size_t size) { return arena.Allocate(size); },
        [&](void* at) { RequestArena::Free(at, &arena); });
    arena.End();
  }
  state.SetItemsProcessed(state.iterations() * kObjectCount);
}
BENCHMARK(BM_RequestsMemory);

void BM_RequestsMemoryDropped(benchmark::State& state) {
  const std::vector<size_t> sizes = Sizes();
  RequestArena arena(region);
  for (auto _ : state) {
    RunRequest(
        sizes, [&](size_t size) { return arena.Allocate(size); }, [](void*) {});
    arena.Drop();
  }
  state.SetItemsProcessed(state.iterations() * kObjectCount);
}
BENCHMARK(BM_RequestsMemoryDropped);

}  // namespace
}  // namespace neptune
