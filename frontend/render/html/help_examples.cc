#include "frontend/render/html/help_examples.h"

#include <array>

namespace search::frontend::html {

std::span<const HelpExample> HelpExamples() {
  static constexpr std::array<HelpExample, 8> kExamples = {{
      {"hash table iterator", "hold all three words, in any form (iterators, tables)"},
      {"\"memory order\"", "hold these words next to each other in this order"},
      {"mutex -recursive", "hold mutex and not recursive"},
      {"socket OR pipe", "hold at least one of the two"},
      {"(read OR write) file", "hold file, and read or write"},
      {"title:vector", "have vector in their title"},
      {"index site:sqlite3-doc", "hold index and belong to the package sqlite3-doc"},
      {"+the matrix", "hold the as well, a word that is otherwise left out"},
  }};
  return kExamples;
}

}  // namespace search::frontend::html
