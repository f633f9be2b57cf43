// Finds in arbitrary bytes what an Analyzer yields for them. The input's first line is analysed:
// its terms are wanted in the rest, the last one as a prefix.

#include <glog/logging.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/analysis/analyzer.h"
#include "index/core/analysis/term_finder.h"

namespace {

using search::index::Analyzer;
using search::index::TermFinder;
using search::index::Token;
using search::index::WantedTerms;

struct Wishes {
  std::vector<std::string> terms;
  std::string prefix;

  bool Has(std::string_view term) const {
    if (!prefix.empty() && term.starts_with(prefix)) return true;
    for (const std::string& one : terms) {
      if (one == term) return true;
    }
    return false;
  }
};

bool IsName(std::string_view term) {
  WantedTerms wanted;
  wanted.AddTerm(term);
  return wanted.has_names();
}

Wishes WishesOf(Analyzer* analyzer, std::string_view line) {
  std::vector<Token> tokens;
  analyzer->Analyze(line, &tokens);
  Wishes wishes;
  for (const Token& token : tokens) {
    if (IsName(token.term)) continue;
    wishes.terms.emplace_back(token.term);
  }
  if (!wishes.terms.empty()) {
    wishes.prefix = wishes.terms.back();
    wishes.terms.pop_back();
  }
  return wishes;
}

// Wished tokens that are words.
std::vector<Token> Kept(const std::vector<Token>& tokens, const Wishes& wishes) {
  std::vector<Token> kept;
  for (const Token& token : tokens) {
    if (wishes.Has(token.term) && !IsName(token.term)) kept.push_back(token);
  }
  return kept;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line_end = input.find('\n');
  if (line_end == std::string_view::npos) return 0;
  static Analyzer* const analyzer = new Analyzer;
  static TermFinder* const finder = new TermFinder;
  const Wishes wishes = WishesOf(analyzer, input.substr(0, line_end));
  WantedTerms wanted;
  for (const std::string& term : wishes.terms) wanted.AddTerm(term);
  if (!wishes.prefix.empty()) wanted.AddPrefix(wishes.prefix);

  const std::string_view text = input.substr(line_end + 1);
  std::vector<Token> analysed;
  analyzer->Analyze(text, &analysed);
  std::vector<Token> found;
  finder->Find(text, wanted, &found);
  const std::vector<Token> expected = Kept(analysed, wishes);
  const std::vector<Token> kept = Kept(found, wishes);
  CHECK_EQ(kept.size(), expected.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    CHECK_EQ(kept[i].term, expected[i].term);
    CHECK_EQ(kept[i].begin_byte, expected[i].begin_byte);
    CHECK_EQ(kept[i].end_byte, expected[i].end_byte);
  }
  for (size_t i = 1; i < kept.size(); ++i) {
    CHECK_EQ(TermFinder::CountPositions(text, kept[i - 1].end_byte, kept[i].begin_byte, 50),
             std::min<size_t>(50, expected[i].position - expected[i - 1].position - 1));
  }
  return 0;
}
