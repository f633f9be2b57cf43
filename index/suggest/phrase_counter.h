// Counts the words, frequent word sequences and titles of one partition's documents, in bounded
// memory.
//
// Counts once per document: every word; and sequences of two and three adjacent words in titles, in
// link texts and in the first `window` words of bodies that neither begin nor end with a function
// word. Titles count as a whole, and so do names: headings and texts of links, of two words or
// more.
//
// Source: lossy counting [Manku02]: at a limit the least frequent entries are
//   dropped, and the highest dropped count bounds the error of all counts.
// Finish writes a file; no clock.
// Threads: thread-compatible; use one counter per partition.
// Limits: PhraseCounterOptions; about 160 MB at the defaults.
//
// Deterministic: the same documents in the same order yield the same bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "index/core/document.h"
#include "neptune/base/status.h"

namespace search::index {

struct PhraseCounterOptions {
  // Distinct words, word sequences, titles and names held at once. Larger: exact counts of larger
  // partitions, for about 60, 40, 150 and 150 bytes each.
  size_t word_count_max = size_t{1} << 19;
  size_t sequence_count_max = size_t{1} << 19;
  size_t title_count_max = size_t{1} << 18;
  size_t name_count_max = size_t{1} << 18;
  // Number of words at the start of a body whose sequences count. Larger: more phrases from deep
  // inside documents, and a slower build. Default: articles introduce their subject at the start.
  uint32_t window = 64;
};

class PhraseCounter {
 public:
  explicit PhraseCounter(const PhraseCounterOptions& options = {});
  ~PhraseCounter();
  PhraseCounter(const PhraseCounter&) = delete;
  PhraseCounter& operator=(const PhraseCounter&) = delete;

  // `document` must be one that the partition indexes; its extra text has a link's text on each
  // line. `headings` has one on each line; those whose words the document does not have are left
  // out.
  void Add(const IndexedDocument& document, std::string_view headings = {});

  // Writes the file of phrase_counts.h into the directory. Call it once.
  neptune::Status Finish(const std::string& directory);

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace search::index
