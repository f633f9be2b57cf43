// What every durable storage must do, as tests over any variant.
//
// A variant's test file makes a harness and writes
//   INSTANTIATE_TEST_SUITE_P(RocksDb, StorageConformanceTest, testing::Values(MakeMyHarness));
//
// Threads: the test's thread.

#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "neptune/world/storage.h"

namespace neptune {

// A host with storage whose power can be cut.
class StorageHarness {
 public:
  virtual ~StorageHarness() = default;

  // Another object after each crash.
  virtual DurableStorage& storage() = 0;
  // The test tells that everything written so far was synced.
  virtual void AfterSync() {}
  // Cuts the power: unsynced writes are lost from a point on that `seed` chooses. Stores that are
  // open stay objects, of no use.
  virtual void Crash(uint64_t seed) = 0;
};

struct CrashRun {
  size_t written_count = 0;  // batches before the last crash
  size_t kept_count = 0;     // how many of them were there after it
};

// The heart of the contract. Writes random batches, syncs some, cuts the power, twice on one store.
// Errors: DATA_LOSS the store does not hold the first n batches, each whole, with n at least what was
// synced. An entry of its own so that a planted bug can be shown to be found.
StatusOr<CrashRun> RunToCrash(StorageHarness& harness, uint64_t seed);

using StorageHarnessFactory = std::function<std::unique_ptr<StorageHarness>()>;

class StorageConformanceTest : public testing::TestWithParam<StorageHarnessFactory> {
 protected:
  StorageConformanceTest() : harness_(GetParam()()) {}

  std::unique_ptr<KeyValueStore> Open(std::string_view name = "store");

  const std::unique_ptr<StorageHarness> harness_;
};

}  // namespace neptune
