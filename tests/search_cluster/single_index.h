// A test that compares a cluster with one index over the same documents.
//
// Threads: as gtest's.

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "index/core/testing/collection.h"
#include "index/tier/registry.h"
#include "tests/search_cluster/small_index.h"

namespace search::tests {

class SingleIndexTest : public testing::Test {
 protected:
  // Builds the small corpus as the tiers of a cluster and as one index.
  void Build(const IndexShape& shape = {}) {
    constexpr uint64_t kCorpusSeed = 5;
    corpus_ = MakeSmallCorpus(kCorpusSeed);
    const Placement placement(corpus_, shape);
    const neptune::Status built = BuildSmallIndex(folder_.path(), corpus_, placement);
    ASSERT_TRUE(built.ok()) << built;
    auto single = index::OpenIndexTier("segment", folder_.path() + "/single/0");
    ASSERT_TRUE(single.ok()) << single.status();
    single_ = *std::move(single);
  }

  index::TemporaryFolder folder_;
  SmallCorpus corpus_;
  std::unique_ptr<index::IndexTier> single_;
};

}  // namespace search::tests
