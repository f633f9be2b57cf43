#include "neptune/admin/profile/allocation_sampler.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "neptune/admin/profile/frame_walk.h"

namespace neptune {

constinit std::atomic<bool> allocations_are_sampled{false};

namespace {

constexpr size_t kPlaceCount = 1 << 16;  // a power of two
constexpr size_t kProbeCount = 8;        // slots in which an address may be
constexpr uint32_t kNoSample = UINT32_MAX;

struct Sample {
  size_t size = 0;
  WalkedStack stack;
  std::atomic<bool> given_back{false};
};

// Never freed: a thread that read the flag just before it was cleared may still access the table.
struct AllocationTable {
  struct Place {
    std::atomic<uintptr_t> address{0};
    std::atomic<uint32_t> sample{kNoSample};
  };
  Place places[kPlaceCount];
  Sample samples[kAllocationSampleCountMax];
  std::atomic<size_t> next{0};

  static size_t PlaceOf(uintptr_t address, size_t probe) {
    return ((address * 0x9E3779B97F4A7C15u >> 40) + probe) % kPlaceCount;
  }
  void Enter(uintptr_t address, uint32_t sample) {
    for (size_t probe = 0; probe < kProbeCount; ++probe) {
      Place& place = places[PlaceOf(address, probe)];
      uintptr_t nobody = 0;
      if (!place.address.compare_exchange_strong(nobody, address)) continue;
      place.sample.store(sample);
      return;
    }  // no free slot: it counts as held
  }
  void Leave(uintptr_t address) {
    for (size_t probe = 0; probe < kProbeCount; ++probe) {
      Place& place = places[PlaceOf(address, probe)];
      if (place.address.load(std::memory_order_relaxed) != address) continue;
      const uint32_t sample = place.sample.exchange(kNoSample);
      if (sample != kNoSample) samples[sample].given_back.store(true);
      place.address.store(0);
      return;
    }
  }
  void Clear() {
    for (Place& place : places) {
      place.address.store(0);
      place.sample.store(kNoSample);
    }
    for (Sample& sample : samples) sample.given_back.store(false);
    next.store(0);
  }
};

constinit std::atomic<AllocationTable*> table{nullptr};
constinit std::atomic<bool> taken{false};
constinit std::atomic<bool> has_hooks{false};
constinit std::atomic<int> recorder_count{0};
// Bytes until the thread's next sample; 0: not drawn yet.
__attribute__((tls_model("initial-exec"))) thread_local double distance = 0;
__attribute__((tls_model("initial-exec"))) thread_local uint64_t chance = 0;

double DrawDistance() {
  if (chance == 0) chance = reinterpret_cast<uintptr_t>(&chance) | 1;
  chance ^= chance << 13;
  chance ^= chance >> 7;
  chance ^= chance << 17;
  const double share = static_cast<double>((chance >> 11) + 1) / 9007199254740993.0;  // (0, 1]
  return -std::log(share) * kAllocationSampleDistance + 1;
}

void Record(uintptr_t address, size_t size) {
  AllocationTable& samples = *table.load();
  const size_t index = samples.next.fetch_add(1);
  if (index >= kAllocationSampleCountMax) return;
  Sample& sample = samples.samples[index];
  sample.size = size;
  sample.stack.depth = 0;
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  WalkFrames(getpid(), frame, frame, &sample.stack);
  samples.Enter(address, static_cast<uint32_t>(index));
}

}  // namespace

void SampleAllocation(const void* address, size_t size) {
  if (distance == 0) distance = DrawDistance();
  distance -= static_cast<double>(size);
  if (distance > 0) return;
  distance = DrawDistance();
  const int saved_errno = errno;
  recorder_count.fetch_add(1);
  if (allocations_are_sampled.load()) Record(reinterpret_cast<uintptr_t>(address), size);
  recorder_count.fetch_sub(1);
  errno = saved_errno;
}

void ForgetAllocation(const void* address) {
  if (AllocationTable* const samples = table.load(std::memory_order_acquire)) {
    samples->Leave(reinterpret_cast<uintptr_t>(address));
  }
}

bool RegisterAllocationHooks() {
  has_hooks.store(true);
  return true;
}

StatusOr<std::unique_ptr<AllocationSampler>> AllocationSampler::Start() {
  if (!has_hooks.load()) return Unimplemented("this program is built without allocation hooks");
  if (taken.exchange(true)) {
    return FailedPrecondition("an allocation profile of this process is already being taken");
  }
  if (table.load() == nullptr) table.store(new AllocationTable());
  table.load()->Clear();
  allocations_are_sampled.store(true);
  return std::unique_ptr<AllocationSampler>(new AllocationSampler());
}

AllocationSampler::~AllocationSampler() {
  if (!ended_) (void)Stop();
}

AllocationSamples AllocationSampler::Stop() {
  ended_ = true;
  allocations_are_sampled.store(false);
  while (recorder_count.load() != 0) sched_yield();  // takes microseconds, once their threads run
  AllocationSamples result;
  const AllocationTable& samples = *table.load();
  const size_t count = std::min(samples.next.load(), kAllocationSampleCountMax);
  result.lost_count = static_cast<int64_t>(samples.next.load() - count);
  for (size_t i = 0; i < count; ++i) {
    const Sample& sample = samples.samples[i];
    const auto size = static_cast<double>(sample.size);
    const double stands_for = 1 / (1 - std::exp(-std::max(size, 1.0) / kAllocationSampleDistance));
    const uintptr_t* const addresses = sample.stack.addresses;
    AllocationCounts& counts = result.stacks[{addresses, addresses + sample.stack.depth}];
    counts.made += stands_for;
    counts.made_bytes += stands_for * size;
    if (sample.given_back.load()) continue;
    counts.held += stands_for;
    counts.held_bytes += stands_for * size;
  }
  taken.store(false);
  return result;
}

}  // namespace neptune
