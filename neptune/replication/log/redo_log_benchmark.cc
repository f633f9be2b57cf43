// Throughput of the log in a folder of the working directory: entries of 1 KiB stored in batches,
// read in order as for a member that catches up, and checked when the log is opened.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "neptune/base/strings.h"
#include "neptune/replication/log/redo_log.h"
#include "neptune/world/real/posix_log_files.h"

namespace neptune {
namespace {

constexpr size_t kPayloadSize = 1024;
constexpr Lsn kEntryCount = 20'000;
constexpr size_t kPieceSize = 1u << 20;

LogEntry Entry(Lsn lsn) {
  return {.lsn = lsn,
          .epoch = 1,
          .method = MethodName("Put"),
          .request_id = {1, lsn},
          .payload = std::string(kPayloadSize, static_cast<char>(lsn))};
}

LogChange Entries(Lsn first, Lsn count) {
  LogChange change;
  for (Lsn i = 0; i < count; ++i) change.entries.push_back(Entry(first + i));
  return change;
}

// A log in its own folder, which is removed with it.
class ScratchLog {
 public:
  ScratchLog() { Open(0); }
  ~ScratchLog() {
    log_.reset();
    node_log_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Open(size_t cache_size_max) {
    log_.reset();
    node_log_ = std::make_unique<NodeLog>(*files_);
    log_ = *RedoLog::Open(*node_log_, "log", {.cluster = "benchmark"}, cache_size_max);
  }
  void Fill(Lsn count) {
    constexpr Lsn kStep = 500;
    for (Lsn lsn = 1; lsn <= count; lsn += kStep) (void)log_->Store(Entries(lsn, kStep));
  }
  RedoLog& log() { return *log_; }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::current_path() / StrCat("redo_log_benchmark.", getpid());
  const std::unique_ptr<LogFiles> files_ = MakePosixLogFiles(folder_);
  std::unique_ptr<NodeLog> node_log_;
  std::unique_ptr<RedoLog> log_;
};

void SetRates(benchmark::State& state, Lsn entry_count) {
  state.SetItemsProcessed(static_cast<int64_t>(entry_count));
  state.SetBytesProcessed(static_cast<int64_t>(entry_count * kPayloadSize));
}

void BM_Store(benchmark::State& state) {
  ScratchLog scratch;
  const Lsn count = static_cast<Lsn>(state.range(0));
  Lsn next = 1;
  for (auto _ : state) {
    if (!scratch.log().Store(Entries(next, count)).ok()) state.SkipWithError("not stored");
    next += count;
  }
  SetRates(state, next - 1);
}
BENCHMARK(BM_Store)->Arg(1)->Arg(16)->Arg(256)->UseRealTime();

void BM_Read(benchmark::State& state) {
  ScratchLog scratch;
  scratch.Fill(kEntryCount);
  Lsn count = 0;
  for (auto _ : state) {
    for (Lsn next = 1; next <= kEntryCount;) {
      const auto entries = scratch.log().Read(next, kEntryCount, kPieceSize);
      if (!entries.ok()) return state.SkipWithError("not read");
      next += entries->size();
    }
    count += kEntryCount;
  }
  SetRates(state, count);
}
BENCHMARK(BM_Read)->UseRealTime();

void BM_Open(benchmark::State& state) {
  ScratchLog scratch;
  scratch.Fill(kEntryCount);
  Lsn count = 0;
  for (auto _ : state) {
    scratch.Open(kLogCacheSizeMax);
    count += kEntryCount;
  }
  SetRates(state, count);
}
BENCHMARK(BM_Open)->UseRealTime();

}  // namespace
}  // namespace neptune

BENCHMARK_MAIN();
