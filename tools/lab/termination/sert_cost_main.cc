// The cost of accounting for a request, and the time until the thread of a terminated request is
// free; for sert_cost.
//
//   sert_cost search FOLDER ROUNDS    searches of the index at FOLDER; prints request_ns=VALUE
//   sert_cost allocation - ROUNDS     allocates and frees 200 objects of 16 to 416 bytes
//   sert_cost reuse - ROUNDS          endless requests on two threads; prints p50_ns= p99_ns=
//
// request_ns is the processor time of the median block. Built with and without the library, which
// does the accounting.

#include <setjmp.h>
#include <time.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "neptune/sert/sert.h"
#include "tools/lab/workloads/synthetic_index.h"

namespace search::lab {
namespace {

#ifdef NEPTUNE_WITH_SERT
constexpr bool kWithLibrary = true;
#else
constexpr bool kWithLibrary = false;
#define SERT_init_timer(signum) (-1)
#define SERT_start()
#define SERT_end()
#define SERT_set_args(arguments)
#define SERT_register_rollbackpoint(point)
#define SERT_begin_arena_only()
#define SERT_get_statistics(statistics)
#endif

constexpr int kBlockCount = 15;
constexpr double kLongestS = 3600;

int64_t ProcessorNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void SetThreshold(double seconds) {
  [[maybe_unused]] sert_arg args = {.lower_bound_s = seconds,
                                    .upper_bound_s = seconds,
                                    .low_watermark = 0.01,
                                    .high_watermark = 0.1,
                                    .alpha = 1,
                                    .window_s = 2};
  SERT_set_args(&args);
  if (SERT_init_timer(SIGRTMIN + 3) != 0) abort();
}

// Runs like a service: with a rollback point and a timer, which never fires here.
void RunOne(const std::function<void()>& request) {
  if (!kWithLibrary) return request();
  sigjmp_buf env;
  if (sigsetjmp(env, 1) != 0) abort();
  SERT_register_rollbackpoint(&env);
  SERT_start();
  request();
  SERT_end();
}

int Cost(int rounds, const std::function<void()>& request) {
  if (kWithLibrary) SetThreshold(kLongestS);
  for (int i = 0; i < rounds; ++i) RunOne(request);
  std::vector<double> blocks_ns;
  for (int b = 0; b < kBlockCount; ++b) {
    const int64_t begin = ProcessorNs();
    for (int i = 0; i < rounds; ++i) RunOne(request);
    blocks_ns.push_back(static_cast<double>(ProcessorNs() - begin) / rounds);
  }
  std::sort(blocks_ns.begin(), blocks_ns.end());
  printf("request_ns=%.1f\n", blocks_ns[blocks_ns.size() / 2]);
  return 0;
}

int Search(const std::string& folder, int rounds) {
  const auto tiers = OpenMadeTiers(folder);
  if (!tiers.ok()) return 1;
  std::vector<index::TierQuery> queries;
  for (const std::string& question : UsualQuestions()) {
    queries.push_back(TierQueryOf(question).value());
  }
  size_t next = 0;
  return Cost(rounds, [&] {
    const index::TierQuery& query = queries[next++ % queries.size()];
    for (const auto& tier : *tiers) {
      const auto answer = tier->Search(query, {});
      if (!answer.ok() || answer->SerializeAsString().empty()) abort();
    }
  });
}

void Allocate() {
  void* objects[200];
  uint32_t size = 1;
  for (void*& object : objects) {
    size = size * 1664525 + 1013904223;
    object = malloc(16 + size / 65536 % 401);
    memset(object, 1, 16);
    asm volatile("" : : "r"(object) : "memory");
  }
  for (void* const object : objects) free(object);
}

void Loop() {
  SERT_begin_arena_only();
  volatile uint64_t sum = 0;
  while (true) sum = sum * 31 + 7;
}

// Half of the requests allocate and are terminated at a check, half compute and are terminated
// between two instructions.
void EndMany(int rounds, std::vector<int64_t>* taken_after_ns) {
  sigjmp_buf env;
  volatile int done = 0;
  while (done < rounds) {
    if (sigsetjmp(env, 1) != 0) {
      sert_statistics statistics;
      SERT_get_statistics(&statistics);
      taken_after_ns->push_back(statistics.taken_after_ns);
      done = done + 1;
      continue;
    }
    SERT_register_rollbackpoint(&env);
    SERT_start();
    if (done % 2 == 0) Loop();
    while (true) Allocate();
  }
}

int Reuse(int rounds) {
  if (!kWithLibrary) return 1;
  SetThreshold(0.002);
  std::vector<int64_t> times_ns[2];
  for (auto& times : times_ns) times.reserve(static_cast<size_t>(rounds));
  std::thread other([&] { EndMany(rounds, &times_ns[1]); });
  EndMany(rounds, &times_ns[0]);
  other.join();
  std::vector<int64_t> all = times_ns[0];
  all.insert(all.end(), times_ns[1].begin(), times_ns[1].end());
  std::sort(all.begin(), all.end());
  printf("p50_ns=%lld p99_ns=%lld\n", static_cast<long long>(all[all.size() / 2]),
         static_cast<long long>(all[all.size() * 99 / 100]));
  return 0;
}

}  // namespace
}  // namespace search::lab

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string work = argv[1];
  const int rounds = atoi(argv[3]);
  if (rounds <= 0) return 2;
  if (work == "search") return search::lab::Search(argv[2], rounds);
  if (work == "allocation") return search::lab::Cost(rounds, &search::lab::Allocate);
  return work == "reuse" ? search::lab::Reuse(rounds) : 2;
}
