// The speed of the checkers on histories of clients that write and read a key, or append to a log,
// without pauses.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"
#include "tools/history/key_history.h"
#include "tools/history/log_history.h"

namespace search::history {
namespace {

using neptune::Duration;
using neptune::kNever;
using neptune::RandomSource;
using neptune::StrCat;
using neptune::TimePoint;

constexpr int kOperationCount = 10'000;
constexpr int kUnansweredShare = 200;  // one in this many

struct Span {
  TimePoint invoked;
  TimePoint effect;
  TimePoint returned;
};

// Operations of the clients by the order of their effects.
std::vector<Span> Spans(int client_count, RandomSource& random) {
  std::vector<Span> spans;
  std::vector<TimePoint> now(client_count);
  for (int i = 0; i < kOperationCount; ++i) {
    TimePoint& client = now[i % client_count];
    const TimePoint effect = client + Duration(1 + random.Below(1000));
    const TimePoint returned = effect + Duration(1 + random.Below(1000));
    spans.push_back({client, effect, random.Below(kUnansweredShare) == 0 ? kNever : returned});
    client = returned + Duration(1);
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.effect < b.effect; });
  return spans;
}

void BM_Key(benchmark::State& state) {
  RandomSource random(1);
  std::vector<KeyOperation> history;
  std::optional<std::string> value;
  for (const Span& span : Spans(static_cast<int>(state.range(0)), random)) {
    KeyOperation operation = {.key = "k", .invoked = span.invoked, .returned = span.returned};
    if (random.Below(2) == 0) {
      operation.kind = KeyOperation::Kind::kWrite;
      value = StrCat(history.size());
    }
    operation.value = value;
    history.push_back(operation);
  }
  for (auto _ : state) {
    if (CheckKeys(history).verdict != Verdict::kLinearizable)
      state.SkipWithError("not linearizable");
  }
  state.SetItemsProcessed(state.iterations() * kOperationCount);
}
BENCHMARK(BM_Key)->Arg(3)->Arg(10);

void BM_Log(benchmark::State& state) {
  RandomSource random(1);
  std::vector<LogOperation> history;
  uint64_t length = 0;
  for (const Span& span : Spans(static_cast<int>(state.range(0)), random)) {
    history.push_back({.value = StrCat(length),
                       .place = ++length,
                       .invoked = span.invoked,
                       .returned = span.returned});
  }
  for (auto _ : state) {
    if (CheckLog(history).verdict != Verdict::kLinearizable)
      state.SkipWithError("not linearizable");
  }
  state.SetItemsProcessed(state.iterations() * kOperationCount);
}
BENCHMARK(BM_Log)->Arg(3)->Arg(10)->Arg(30);

}  // namespace
}  // namespace search::history

BENCHMARK_MAIN();
