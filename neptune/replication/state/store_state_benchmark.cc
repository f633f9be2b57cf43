// Execution of writes on RocksDB, in a folder of the working directory: values of 100 bytes under
// new keys, as runs of some writes each. Beyond kAnswersKept writes old answers are forgotten too.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/world/real/rocksdb_storage.h"

namespace neptune {
namespace {

constexpr size_t kValueSize = 100;
constexpr uint64_t kClientCount = 64;

// What the registers of neptune/node do: a look-up of a key that is mostly new, and a change.
Status Append(const WriteContext& context, std::string_view request, std::string* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto before, context.store.Get(request));
  *response = before.value_or("") + std::string(kValueSize, 'v');
  context.changes.Put(request, *response);
  return OkStatus();
}

LogEntry Entry(Lsn lsn) {
  const uint64_t client = lsn % kClientCount;
  return {.lsn = lsn,
          .epoch = 1,
          .method = MethodName("Append"),
          .request_id = {.client = 1 + client * 0x9e3779b97f4a7c15u, .number = lsn},
          .accepted_at = {static_cast<int64_t>(lsn)},
          .payload = StrCat("w", client, ".", lsn / kClientCount)};
}

// Data in a folder of their own, which is removed with them.
class ScratchState {
 public:
  ScratchState() {
    state_ =
        *StoreState::Open(*storage_->Open("data"), {.partition = PartitionId(0),
                                                    .writes = {{MethodName("Append"), &Append}},
                                                    .on_change = nullptr});
  }
  ~ScratchState() {
    state_.reset();
    storage_.reset();
    std::filesystem::remove_all(folder_);
  }
  // Executes the next writes. False: not all were.
  bool Run(Lsn count) {
    std::vector<LogEntry> entries;
    for (Lsn i = 0; i < count; ++i) entries.push_back(Entry(++last_));
    std::vector<const LogEntry*> run;
    for (const LogEntry& entry : entries) run.push_back(&entry);
    const auto outcomes = state_->ApplyRun(run, nullptr);
    return outcomes.ok() && outcomes->size() == count;
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::current_path() / StrCat("store_state_benchmark.", getpid());
  std::unique_ptr<DurableStorage> storage_ = MakeRocksDbStorage(folder_);
  std::unique_ptr<StoreState> state_;
  Lsn last_ = 0;
};

// Arguments: writes before, writes of a run. Processor time includes that of RocksDB's own
// threads.
void BM_Run(benchmark::State& state) {
  ScratchState scratch;
  constexpr Lsn kStep = 500;
  for (int64_t filled = 0; filled < state.range(0); filled += kStep) {
    if (!scratch.Run(kStep)) return state.SkipWithError("not filled");
  }
  const auto count = static_cast<Lsn>(state.range(1));
  for (auto _ : state) {
    if (!scratch.Run(count)) return state.SkipWithError("not executed");
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(BM_Run)
    ->ArgNames({"before", "run"})
    ->ArgsProduct({{50'000, 150'000}, {1, 4, 32, 256}})
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace neptune

BENCHMARK_MAIN();
