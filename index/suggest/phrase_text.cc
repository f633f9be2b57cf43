#include "index/suggest/phrase_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "index/core/analysis/unicode.h"
#include "index/core/analysis/word_scanner.h"
#include "index/core/query/query.h"

namespace search::index {
namespace {

// Ascending.
constexpr std::string_view kFunctionWords[] = {
    "a",     "about", "after", "all",   "also",  "an",    "and",  "are",   "as",    "at",    "be",
    "been",  "but",   "by",    "can",   "could", "did",   "do",   "does",  "each",  "for",   "from",
    "had",   "has",   "have",  "he",    "her",   "his",   "how",  "i",     "if",    "in",    "into",
    "is",    "it",    "its",   "may",   "more",  "most",  "my",   "no",    "not",   "of",    "on",
    "one",   "only",  "or",    "other", "our",   "she",   "so",   "some",  "such",  "than",  "that",
    "the",   "their", "them",  "then",  "there", "these", "they", "this",  "those", "to",    "two",
    "until", "up",    "was",   "we",    "were",  "what",  "when", "where", "which", "while", "who",
    "whose", "will",  "with",  "would", "you",   "your",
};
static_assert(std::is_sorted(std::begin(kFunctionWords), std::end(kFunctionWords)));

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsControl(int32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point <= 0x9F);
}

// True if the text contains no sign or operator of the query language.
bool HasNoSigns(std::string_view text) {
  return text.find_first_of("\"()+-:*~^") == std::string_view::npos &&
         text.find("OR") == std::string_view::npos && text.find("AND") == std::string_view::npos &&
         text.find("NOT") == std::string_view::npos && text.find("NEAR") == std::string_view::npos;
}

bool IsPlainLeaf(const QueryNode& node) {
  return (node.kind == QueryNode::Kind::kTerm || node.kind == QueryNode::Kind::kPhrase) &&
         node.field == QueryField::kAny;
}

}  // namespace

std::vector<FoldedWord> FoldWords(std::string_view utf8, size_t count_max) {
  std::vector<FoldedWord> words;
  WordScanner scanner(utf8);
  while (words.size() < count_max && scanner.Next()) {
    words.push_back({std::string(scanner.word(), scanner.word_size()), scanner.begin_byte(),
                     scanner.end_byte()});
  }
  return words;
}

std::string PhraseKey(std::span<const FoldedWord> words) {
  std::string key;
  for (const FoldedWord& word : words) {
    if (!key.empty()) key += ' ';
    key += word.text;
  }
  return key;
}

void AppendLowerCase(std::string_view utf8, std::string* out) {
  while (!utf8.empty()) {
    const unicode::Decoded decoded = unicode::Decode(utf8);
    if (decoded.code_point >= 0) {
      const int32_t lower = utf8proc_tolower(decoded.code_point);
      unicode::AppendUtf8(&lower, 1, out);
    }
    utf8.remove_prefix(decoded.size);
  }
}

std::string TrimmedText(std::string_view utf8) {
  std::string text;
  bool in_gap = false;
  while (!utf8.empty()) {
    const unicode::Decoded decoded = unicode::Decode(utf8);
    if (IsBlank(utf8.front())) {
      in_gap = true;
    } else if (decoded.code_point >= 0 && !IsControl(decoded.code_point)) {
      if (in_gap && !text.empty()) text += ' ';
      in_gap = false;
      text.append(utf8.substr(0, decoded.size));
    }
    utf8.remove_prefix(decoded.size);
  }
  return text;
}

bool IsPlainQuery(std::string_view utf8) {
  if (HasNoSigns(utf8)) return true;
  const auto query = ParseQuery(utf8);
  if (!query.ok()) return false;
  const QueryNode& root = query->root;
  if (root.kind != QueryNode::Kind::kAnd) return IsPlainLeaf(root);
  return std::all_of(root.children.begin(), root.children.end(), IsPlainLeaf);
}

bool IsFunctionWord(std::string_view folded) {
  return std::binary_search(std::begin(kFunctionWords), std::end(kFunctionWords), folded);
}

}  // namespace search::index
