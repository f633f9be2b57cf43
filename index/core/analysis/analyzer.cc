#include "index/core/analysis/analyzer.h"

#include <algorithm>
#include <cstring>

#include "index/core/analysis/names.h"
#include "index/core/analysis/site.h"
#include "index/core/analysis/stemmer.h"
#include "index/core/analysis/term_arena.h"
#include "index/core/analysis/word_scanner.h"

namespace search::index {
namespace {

// A part of a text that becomes a token.
struct Part {
  enum class Kind : uint8_t {
    kWord,
    kSign,        // names.h: a word of its own
    kMarkedName,  // names.h: shares the position of the word after it
  };
  Kind kind = Kind::kWord;
  size_t begin = 0;
  size_t end = 0;

  bool Holds(const Part& other) const { return begin <= other.begin && other.end <= end; }
};

// Scans a text for the parts that become tokens, in the order of their beginnings.
class PartScanner {
 public:
  PartScanner(std::string_view text, bool ascii_fast_path)
      : text_(text), words_(text, ascii_fast_path) {}

  bool Next() {
    if (state_ == State::kWord) Advance();
    if (state_ == State::kSigns) {
      const size_t end = has_word_ ? words_.begin_byte() : text_.size();
      const NameRange sign = NextSign(text_, at_, end);
      at_ = sign.end;
      if (sign.size() > 0) return Set(Part::Kind::kSign, sign);
      if (!has_word_) return false;
      state_ = State::kName;
    }
    if (state_ == State::kName) {
      if (words_.begin_byte() >= name_end_) {
        const NameRange name = MarkedNameAt(text_, words_.begin_byte(), words_.end_byte());
        if (name.size() > 0) {
          name_end_ = name.end;
          state_ = State::kPlain;
          return Set(Part::Kind::kMarkedName, name);
        }
      }
    }
    state_ = State::kWord;
    return Set(Part::Kind::kWord, {words_.begin_byte(), words_.end_byte()});
  }

  const Part& part() const { return part_; }
  const WordScanner& word() const { return words_; }

 private:
  // What is next: another word with what precedes it; signs before the word; its marked name; the
  // word itself.
  enum class State : uint8_t { kWord, kSigns, kName, kPlain };

  void Advance() {
    at_ = words_.end_byte();
    has_word_ = words_.Next();
    state_ = State::kSigns;
  }

  bool Set(Part::Kind kind, NameRange range) {
    part_ = {kind, range.begin, range.end};
    return true;
  }

  const std::string_view text_;
  WordScanner words_;
  bool has_word_ = false;
  State state_ = State::kWord;
  size_t at_ = 0;        // where signs may begin
  size_t name_end_ = 0;  // of the last marked name
  Part part_;
};

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
    PartScanner scanner(text.substr(0, kTextSizeMax), options_.ascii_fast_path);
    uint32_t position = 0;
    while (tokens->size() < count_max && scanner.Next()) {
      const Part& part = scanner.part();
      tokens->push_back({.term = TermOf(scanner, text),
                         .position = position,
                         .begin_byte = static_cast<uint32_t>(part.begin),
                         .end_byte = static_cast<uint32_t>(part.end)});
      if (part.kind != Part::Kind::kMarkedName) ++position;
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
    std::vector<Part> parts;
    std::vector<WordTerm> terms = AnalyzeWords(text, &parts);
    return options_.words == WordRule::kAsciiRuns ? terms : Chosen(std::move(terms), parts);
  }

  // parts: receives the part of each term, except for kAsciiRuns.
  std::vector<WordTerm> AnalyzeWords(std::string_view text, std::vector<Part>* parts) {
    if (options_.words == WordRule::kAsciiRuns) return AsciiRunsOf(text);
    arena_.Reset();
    std::vector<WordTerm> terms;
    PartScanner scanner(text.substr(0, kTextSizeMax), options_.ascii_fast_path);
    uint32_t position = 0;
    while (terms.size() < options_.token_count_max && scanner.Next()) {
      const Part& part = scanner.part();
      WordTerm& term = terms.emplace_back();
      term.term = TermOf(scanner, text);
      term.folded = part.kind == Part::Kind::kWord
                        ? std::string(scanner.word().word(), scanner.word().word_size())
                        : term.term;
      term.surface = text.substr(part.begin, part.end - part.begin);
      term.position = position;
      if (part.kind != Part::Kind::kMarkedName) ++position;
      parts->push_back(part);
    }
    return terms;
  }

 private:
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

  // A marked name alone is its term. Among other words it replaces its word if it has only one;
  // otherwise its words are used, so that a phrase has a term for every position.
  static std::vector<WordTerm> Chosen(std::vector<WordTerm> terms, const std::vector<Part>& parts) {
    std::vector<WordTerm> chosen;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].kind == Part::Kind::kMarkedName) {
        size_t count = 0;  // parts of the name after it
        while (i + count + 1 < parts.size() && parts[i].Holds(parts[i + count + 1])) ++count;
        const bool is_all = i == 0 && count + 1 == parts.size();
        if (!is_all && count > 1) continue;
        chosen.push_back(std::move(terms[i]));
        i += count;
      } else {
        chosen.push_back(std::move(terms[i]));
      }
      chosen.back().position = static_cast<uint32_t>(chosen.size() - 1);
    }
    return chosen;
  }

  // The term of the scanner's part of `text`, kept in the arena.
  std::string_view TermOf(const PartScanner& scanner, std::string_view text) {
    const Part& part = scanner.part();
    if (part.kind == Part::Kind::kWord) return TermOfWord(scanner.word());
    const size_t size = part.end - part.begin;
    char* room = arena_.Room(kTermSizeMax);
    for (size_t i = 0; i < size; ++i) {
      const char c = text[part.begin + i];
      const char folded = LowerAlphanumeric(c);
      room[i] = folded == 0 ? c : folded;
    }
    arena_.Keep(size);
    return {room, size};
  }

  std::string_view TermOfWord(const WordScanner& scanner) {
    const size_t size = scanner.word_size();
    char* room = arena_.Room(kTermSizeMax);
    size_t term_size = size;
    if (scanner.has_stem()) {
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

std::vector<WordTerm> Analyzer::AnalyzeWords(std::string_view utf8) {
  std::vector<Part> parts;
  return rep_->AnalyzeWords(utf8, &parts);
}

std::string Analyzer::FoldSite(std::string_view utf8) { return FoldSiteName(utf8); }

}  // namespace search::index
