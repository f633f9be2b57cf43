// Conformance suite for durable storage, instantiated for each implementation.
//
// An implementation's test file makes a harness and writes
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

  // Returns a new object after each crash.
  virtual DurableStorage& storage() = 0;
  // The test calls it when everything written so far has been synced.
  virtual void AfterSync() {}
  // Cuts the power: unsynced writes are lost from a point that depends on `seed`. Open stores
  // remain valid objects but can no longer be used.
  virtual void Crash(uint64_t seed) = 0;
};

struct CrashRun {
  size_t written_count = 0;  // batches written before the last crash
  size_t kept_count = 0;     // number of those that survived it
};

// Tests the core of the contract: writes random batches, syncs some, cuts the power, twice on one
// store. Errors: DATA_LOSS the store does not hold the first n whole batches, with n at least the
// number synced. Public so that a test can show that it detects a planted bug.
StatusOr<CrashRun> RunToCrash(StorageHarness& harness, uint64_t seed);

using StorageHarnessFactory = std::function<std::unique_ptr<StorageHarness>()>;

class StorageConformanceTest : public testing::TestWithParam<StorageHarnessFactory> {
 protected:
  StorageConformanceTest() : harness_(GetParam()()) {}

  std::unique_ptr<KeyValueStore> Open(std::string_view name = "store");

  const std::unique_ptr<StorageHarness> harness_;
};

}  // namespace neptune
