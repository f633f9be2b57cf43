// Counts the words, frequent word sequences and titles of one partition's documents, in bounded memory.
//
// Counted, once a document: every word; sequences of two and three words that stand directly behind each
// other in titles, in link texts and in the first `window` words of bodies, and neither begin nor end
// with a function word. Titles count whole.
//
// Source: lossy counting [Manku02]: at a limit the least frequent entries go, and the
//   floor under which they went bounds the error of all counts.
// Finish writes a file; no clock.
// Threads: thread-compatible; one counter a partition.
// Limits: PhraseCounterOptions; about 120 MB at the defaults.
//
// Deterministic: the same documents in the same order give the same bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "index/core/document.h"
#include "neptune/base/status.h"

namespace search::index {

struct PhraseCounterOptions {
  // Distinct words, word sequences and titles held at once. Larger: exact counts of larger partitions,
  // for about 60, 40 and 150 bytes each.
  size_t word_count_max = size_t{1} << 19;
  size_t sequence_count_max = size_t{1} << 19;
  size_t title_count_max = size_t{1} << 18;
  // Words of a body whose sequences count. Larger: more phrases of the depths of documents, a slower
  // build. Default: articles say at their beginning what they are about.
  uint32_t window = 64;
};

class PhraseCounter {
 public:
  explicit PhraseCounter(const PhraseCounterOptions& options = {});
  ~PhraseCounter();
  PhraseCounter(const PhraseCounter&) = delete;
  PhraseCounter& operator=(const PhraseCounter&) = delete;

  // `document` is one that the partition indexes.
  void Add(const IndexedDocument& document);

  // Writes phrase_counts.h's file in the folder. To be called once.
  neptune::Status Finish(const std::string& directory);

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace search::index
