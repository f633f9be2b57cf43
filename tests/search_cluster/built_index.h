// An index over the small corpus in a temporary folder, with its oracle. A build error fails the
// test.
//
// Threads: thread-compatible.

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "index/core/testing/collection.h"
#include "tests/search_cluster/answer_oracle.h"
#include "tests/search_cluster/small_index.h"

namespace search::tests {

struct BuiltIndexOptions {
  IndexShape shape = {};
  uint64_t corpus_seed = 5;
};

struct BuiltIndex {
  explicit BuiltIndex(const BuiltIndexOptions& options = {})
      : corpus(MakeSmallCorpus(options.corpus_seed)), placement(corpus, options.shape) {
    const neptune::Status built = BuildSmallIndex(folder.path(), corpus, placement);
    EXPECT_TRUE(built.ok()) << built;
    auto opened = AnswerOracle::Open(folder.path(), corpus, placement);
    EXPECT_TRUE(opened.ok()) << opened.status();
    oracle = *std::move(opened);
  }

  index::TemporaryFolder folder;
  SmallCorpus corpus;
  Placement placement;
  std::unique_ptr<AnswerOracle> oracle;
};

}  // namespace search::tests
