#include "index/core/analysis/analyzer.h"

#include <algorithm>
#include <cstring>

#include "index/core/analysis/site.h"
#include "index/core/analysis/stemmer.h"
#include "index/core/analysis/term_arena.h"
#include "index/core/analysis/word_scanner.h"

namespace search::index {
namespace {

// The byte in lower case, or 0 if it is not an ASCII letter or digit.
char LowerAlphanumeric(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) return c;
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : char{0};
}

}  // namespace

class Analyzer::Rep {
 public:
  explicit Rep(const AnalyzerOptions& options)
      : options_(options), stemmer_(options.stem_cache_size) {}

  void AnalyzeText(std::string_view text, std::vector<Token>* tokens) {
    if (options_.words == WordRule::kAsciiRuns) return AnalyzeAsciiRuns(text, tokens);
    arena_.Reset();
    tokens->clear();
    const size_t count_max = std::min<size_t>(options_.token_count_max, UINT32_MAX);
    WordScanner scanner(text.substr(0, kTextSizeMax), options_.ascii_fast_path);
    while (tokens->size() < count_max && scanner.Next()) {
      tokens->push_back({.term = TermOf(scanner),
                         .position = static_cast<uint32_t>(tokens->size()),
                         .begin_byte = static_cast<uint32_t>(scanner.begin_byte()),
                         .end_byte = static_cast<uint32_t>(scanner.end_byte())});
    }
  }

  void AnalyzeAsciiRuns(std::string_view text, std::vector<Token>* tokens) {
    arena_.Reset();
    tokens->clear();
    text = text.substr(0, kTextSizeMax);
    const size_t count_max = std::min<size_t>(options_.token_count_max, UINT32_MAX);
    for (size_t at = 0; tokens->size() < count_max;) {
      while (at < text.size() && LowerAlphanumeric(text[at]) == 0) ++at;
      if (at == text.size()) return;
      const size_t begin = at;
      char* room = arena_.Room(kTermSizeMax);
      size_t size = 0;
      for (char c = 0; at < text.size() && (c = LowerAlphanumeric(text[at])) != 0; ++at) {
        if (size < kTermSizeMax) room[size++] = c;
      }
      arena_.Keep(size);
      tokens->push_back({.term = {room, size},
                         .position = static_cast<uint32_t>(tokens->size()),
                         .begin_byte = static_cast<uint32_t>(begin),
                         .end_byte = static_cast<uint32_t>(at)});
    }
  }

  void AnalyzeSite(std::string_view text, std::vector<Token>* tokens) {
    arena_.Reset();
    tokens->clear();
    const std::string folded = FoldSiteName(text);
    for (const std::string_view name : SiteNames(folded)) {
      if (tokens->size() == options_.token_count_max) return;
      char* room = arena_.Room(name.size());
      std::memcpy(room, name.data(), name.size());
      arena_.Keep(name.size());
      const size_t end = std::min<size_t>(text.size(), UINT32_MAX);
      tokens->push_back({.term = {room, name.size()}, .end_byte = static_cast<uint32_t>(end)});
    }
  }

  std::vector<WordTerm> AnalyzeWord(std::string_view text) {
    if (options_.words == WordRule::kAsciiRuns) return AsciiRunsOf(text);
    arena_.Reset();
    std::vector<WordTerm> terms;
    WordScanner scanner(text.substr(0, kTextSizeMax), options_.ascii_fast_path);
    while (terms.size() < options_.token_count_max && scanner.Next()) {
      const std::string_view surface =
          text.substr(scanner.begin_byte(), scanner.end_byte() - scanner.begin_byte());
      terms.push_back({.term = std::string(TermOf(scanner)),
                       .folded = std::string(scanner.word(), scanner.word_size()),
                       .surface = std::string(surface),
                       .position = static_cast<uint32_t>(terms.size())});
    }
    return terms;
  }

 private:
  static constexpr size_t kStemmedWordSizeMin = 3;

  std::vector<WordTerm> AsciiRunsOf(std::string_view text) {
    std::vector<Token> tokens;
    AnalyzeAsciiRuns(text, &tokens);
    std::vector<WordTerm> terms;
    for (const Token& token : tokens) {
      terms.push_back(
          {.term = std::string(token.term),
           .folded = std::string(token.term),
           .surface = std::string(text.substr(token.begin_byte, token.end_byte - token.begin_byte)),
           .position = token.position});
    }
    return terms;
  }

  // The term of the scanner's word, kept in the arena.
  std::string_view TermOf(const WordScanner& scanner) {
    const size_t size = scanner.word_size();
    char* room = arena_.Room(kTermSizeMax);
    size_t term_size = size;
    if (scanner.is_ascii_word() && size >= kStemmedWordSizeMin && size <= kStemmedWordSizeMax) {
      term_size = stemmer_.Stem(scanner.word(), size, room);
    } else {
      std::memcpy(room, scanner.word(), size);
    }
    arena_.Keep(term_size);
    return {room, term_size};
  }

  const AnalyzerOptions options_;
  EnglishStemmer stemmer_;
  TermArena arena_;
};

Analyzer::Analyzer(const AnalyzerOptions& options) : rep_(std::make_unique<Rep>(options)) {}
Analyzer::~Analyzer() = default;

void Analyzer::Analyze(FieldKind field, std::string_view utf8, std::vector<Token>* tokens) {
  if (field == FieldKind::kSite) {
    rep_->AnalyzeSite(utf8, tokens);
  } else {
    rep_->AnalyzeText(utf8, tokens);
  }
}

std::vector<WordTerm> Analyzer::AnalyzeWord(std::string_view utf8) {
  return rep_->AnalyzeWord(utf8);
}

std::string Analyzer::FoldSite(std::string_view utf8) { return FoldSiteName(utf8); }

}  // namespace search::index
