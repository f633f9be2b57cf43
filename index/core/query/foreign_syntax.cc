#include "index/core/query/foreign_syntax.h"

#include <algorithm>

#include "index/core/query/query.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

using neptune::StrCat;

// Fields of other engines, ascending.
constexpr std::string_view kForeignFields[] = {
    "allintitle", "author", "body", "date", "ext",     "filetype", "host", "intitle", "inurl",
    "language",   "link",   "loc",  "path", "related", "since",    "tag",  "text",    "until",
};
static_assert(std::is_sorted(std::begin(kForeignFields), std::end(kForeignFields)));

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string FieldNote(std::string_view word) {
  const size_t colon = word.find(':');
  if (colon == std::string_view::npos || colon + 1 == word.size()) return "";
  if (word[colon + 1] == ':' || word[colon + 1] == '/') return "";  // code, an address
  std::string field(word.substr(0, colon));
  for (char& c : field) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (!std::binary_search(std::begin(kForeignFields), std::end(kForeignFields), field)) return "";
  return StrCat("There is no field ", field, ": here; its text was taken as words. The fields are ",
                "title:, site:, url:, lang:, before: and after:.");
}

std::string WildcardNote(std::string_view word) {
  const auto is_wildcard = [&](size_t at) {
    const bool has_left = at > 0 && IsLetterOrDigit(word[at - 1]);
    const bool has_right = at + 1 < word.size() && IsLetterOrDigit(word[at + 1]);
    // `a*b` is a product to some, `what?` a question.
    if (word[at] == '*') return has_left || (has_right && at == 0);
    return word[at] == '?' && has_left && has_right;
  };
  for (size_t at = 0; at < word.size(); ++at) {
    if (!is_wildcard(at)) continue;
    return StrCat("The wildcard ", word.substr(at, 1), " is only understood as a star at the end ",
                  "of one word of at least two letters; it was left out.");
  }
  return "";
}

}  // namespace

std::string ForeignSyntaxNote(std::string_view word) {
  if (word.starts_with("NEAR/")) {
    return StrCat("The distance after NEAR/ is a number from 1 to ", kNearDistanceMax,
                  "; it was taken as words.");
  }
  if (word.size() > 2 && word.find('~') == word.size() - 1 && IsLetterOrDigit(word[0])) {
    return "A ~ after a word is not understood and was left out; words are found in all of their "
           "endings.";
  }
  const std::string note = FieldNote(word);
  return note.empty() ? WildcardNote(word) : note;
}

}  // namespace search::index
