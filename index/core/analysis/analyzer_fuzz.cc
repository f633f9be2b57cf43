// Analyzes arbitrary bytes: the token ranges are in order and on character boundaries, terms are
// bounded, and each folded word analyzes to its own term again.

#include <glog/logging.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "index/core/analysis/analyzer.h"

namespace {

using search::index::Analyzer;
using search::index::AnalyzerOptions;
using search::index::Token;
using search::index::WordTerm;

bool IsContinuation(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80;
}

// A marked name shares the position of the next token and lies around it; others never overlap.
void CheckTokens(std::string_view text, const std::vector<Token>& tokens) {
  size_t end = 0;
  uint32_t position = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    CHECK_EQ(token.position, position);
    CHECK_GE(token.begin_byte, end);
    const bool is_marked_name = i + 1 < tokens.size() && tokens[i + 1].position == position;
    CHECK_GT(token.end_byte, token.begin_byte);
    CHECK_LE(token.end_byte, text.size());
    CHECK(!IsContinuation(text, token.begin_byte));
    CHECK(!token.term.empty());
    CHECK_LE(token.term.size(), search::index::kTermSizeMax);
    if (is_marked_name) {
      CHECK_GE(tokens[i + 1].begin_byte, token.begin_byte);
      CHECK_LE(tokens[i + 1].end_byte, token.end_byte);
    } else {
      end = token.end_byte;
      ++position;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static Analyzer* const analyzer = new Analyzer;
  static Analyzer* const checker = new Analyzer(AnalyzerOptions::ForQueries());
  std::vector<Token> tokens;
  analyzer->Analyze(text, &tokens);
  CheckTokens(text, tokens);
  for (const WordTerm& word : checker->AnalyzeWord(text.substr(0, 512))) {
    const std::vector<WordTerm> again = checker->AnalyzeWord(word.folded);
    CHECK_EQ(again.size(), 1u) << word.folded;
    CHECK_EQ(again[0].term, word.term) << word.folded;
  }
  const std::string site = Analyzer::FoldSite(text);
  CHECK_EQ(Analyzer::FoldSite(site), site);
  return 0;
}
