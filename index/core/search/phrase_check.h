// Whether words stand at given distances in one field of a document.
//
// Source: none. Layer: index/core, search. Threads: thread-compatible.

#pragma once

#include <cstdint>
#include <vector>

#include "index/core/segment/posting_cursor.h"

namespace search::index {

class PhraseCheck {
 public:
  // Cursor i is the word at positions[i]; in any field, or in the title only.
  PhraseCheck(std::vector<PostingCursor*> cursors, std::vector<uint32_t> positions,
              bool title_only);

  // REQUIRES: all cursors stand at the same document.
  bool Matches();

 private:
  bool MatchesIn(Field field);
  // Keeps the starts that `word`'s positions confirm.
  void Intersect(size_t word, Field field);

  std::vector<PostingCursor*> cursors_;
  std::vector<uint32_t> positions_;
  bool title_only_;
  std::vector<uint32_t> starts_;  // where the phrase may begin, ascending
  std::vector<uint32_t> word_positions_;
};

}  // namespace search::index
