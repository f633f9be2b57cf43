// Counts what names with signs add to an index of the text on standard input:
// measure_names < TEXT

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

#include "index/core/analysis/analyzer.h"

namespace {

using search::index::Token;

struct Count {
  size_t tokens = 0;
  std::unordered_map<std::string, size_t> terms;

  void Add(std::string_view term) {
    ++tokens;
    ++terms[std::string(term)];
  }
};

bool IsSign(std::string_view term) {
  const auto c = static_cast<unsigned char>(term[0]);
  return c < 0x80 && std::isalnum(c) == 0 && c != '_' &&
         (c != '-' || std::isalnum(term.back()) == 0);
}

void Print(const char* name, const Count& count, const Count& words) {
  std::printf(
      "%-12s %9zu tokens, %.2f %% of the words; %7zu terms, %.2f %%\n", name, count.tokens,
      100.0 * static_cast<double>(count.tokens) / static_cast<double>(words.tokens),
      count.terms.size(),
      100.0 * static_cast<double>(count.terms.size()) / static_cast<double>(words.terms.size()));
}

}  // namespace

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  search::index::Analyzer analyzer;
  std::vector<Token> tokens;
  analyzer.Analyze(text, &tokens);
  Count words;
  Count signs;
  Count names;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool is_name = i + 1 < tokens.size() && tokens[i + 1].position == tokens[i].position;
    (IsSign(tokens[i].term) ? signs : is_name ? names : words).Add(tokens[i].term);
  }
  Print("words", words, words);
  Print("signs", signs, words);
  Print("marked names", names, words);
  return 0;
}
