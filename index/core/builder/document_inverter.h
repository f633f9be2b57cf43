// Inverts documents: adds the occurrences of their words to a term table, which becomes a run.
//
// Source: single-pass in-memory inversion [Heinz03].
// No I/O, no clock, no threads.
// Threads: thread-compatible; one inverter per thread.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "index/core/analysis/analyzer.h"
#include "index/core/builder/term_table.h"
#include "index/core/document.h"

namespace search::index {

class DocumentInverter {
 public:
  explicit DocumentInverter(WordRule words);

  // Returns the number of words, indexed by field. REQUIRES: ordinals ascend.
  std::array<uint32_t, kFieldCount> Add(const IndexedDocument& document, uint32_t ordinal);

  const TermTable& table() const { return table_; }
  void Clear() { table_.Clear(); }

 private:
  uint32_t AddField(Field field, std::string_view text, uint32_t ordinal);

  Analyzer analyzer_;
  std::vector<Token> tokens_;
  std::vector<uint32_t> hashes_;  // hashes of tokens_
  TermTable table_;
};

}  // namespace search::index
