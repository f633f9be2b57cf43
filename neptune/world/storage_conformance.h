// What every durable storage must do, as tests over any variant.
//
// A variant's test file makes a harness and writes
//   INSTANTIATE_TEST_SUITE_P(RocksDb, StorageConformanceTest, testing::Values(MakeMyHarness));
//
// Source: none. Layer: world, tests only.

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

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

using StorageHarnessFactory = std::function<std::unique_ptr<StorageHarness>()>;

class StorageConformanceTest : public testing::TestWithParam<StorageHarnessFactory> {
 protected:
  using Contents = std::map<std::string, std::string>;

  StorageConformanceTest() : harness_(GetParam()()) {}

  std::unique_ptr<KeyValueStore> Open(std::string_view name = "store");
  static Contents Scan(const KeyValueStore& store, const ScanOptions& options = {});

  const std::unique_ptr<StorageHarness> harness_;
};

}  // namespace neptune
