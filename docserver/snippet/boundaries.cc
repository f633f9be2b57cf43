#include "docserver/snippet/boundaries.h"

#include <algorithm>

namespace search::docserver {

namespace {

constexpr size_t kContinuationBytesMax = 3;
constexpr std::string_view kIdeographicFullStop = "\xE3\x80\x82";

bool IsContinuation(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// First character boundary at or after `at`; in a run of invalid bytes every position is a
// boundary.
size_t CharacterAtOrAfter(std::string_view text, size_t at) {
  for (size_t i = 0; i < kContinuationBytesMax && IsContinuation(text, at); ++i) ++at;
  return at;
}

size_t CharacterAtOrBefore(std::string_view text, size_t at) {
  size_t found = at;
  for (size_t i = 0; i < kContinuationBytesMax && found > 0 && IsContinuation(text, found); ++i) {
    --found;
  }
  return IsContinuation(text, found) ? at : found;
}

bool BeginsWord(std::string_view text, size_t at) {
  return at == 0 || (IsBlank(text[at - 1]) && at < text.size() && !IsBlank(text[at]));
}

bool EndsWord(std::string_view text, size_t at) {
  return at == text.size() || (IsBlank(text[at]) && at > 0 && !IsBlank(text[at - 1]));
}

// True if the character before `at` ends a sentence.
bool FollowsFullStop(std::string_view text, size_t at) {
  if (at == 0) return false;
  const char last = text[at - 1];
  return last == '.' || last == '!' || last == '?' ||
         text.substr(0, at).ends_with(kIdeographicFullStop);
}

bool BeginsSentence(std::string_view text, size_t at) {
  if (at == 0 || text.substr(0, at).ends_with(kIdeographicFullStop)) return true;
  if (!BeginsWord(text, at)) return false;
  const bool begins_line = text[at - 1] == '\n';
  return begins_line || (at >= 2 && FollowsFullStop(text, at - 1));
}

// Nearest sentence begin in [lowest, from]; npos if there is none.
size_t SentenceAtOrBefore(std::string_view text, size_t from, size_t lowest) {
  for (size_t at = from;; --at) {
    if (BeginsSentence(text, at)) return at;
    if (at == lowest) return std::string_view::npos;
  }
}

size_t WordBeginAtOrAfter(std::string_view text, size_t from, size_t highest) {
  for (size_t at = from; at < highest; ++at) {
    if (BeginsWord(text, at)) return at;
  }
  return BeginsWord(text, highest) ? highest : std::min(CharacterAtOrAfter(text, from), highest);
}

// The best end in [lowest, from]: after a sentence in the last third, else after a word, else
// anywhere.
size_t EndAtOrBefore(std::string_view text, size_t from, size_t lowest) {
  const size_t sentence_lowest = from - (from - lowest) / 3;
  for (size_t at = from; at > sentence_lowest; --at) {
    if (EndsWord(text, at) && FollowsFullStop(text, at)) return at;
  }
  for (size_t at = from; at > lowest; --at) {
    if (EndsWord(text, at)) return at;
  }
  return EndsWord(text, lowest) ? lowest : std::max(CharacterAtOrBefore(text, from), lowest);
}

size_t Minus(size_t a, size_t b) { return a > b ? a - b : 0; }

}  // namespace

TextRange Expand(std::string_view text, TextRange core, TextRange bounds, size_t budget) {
  if (core.end - core.begin > budget) {
    return {core.begin, std::max(CharacterAtOrBefore(text, core.begin + budget), core.begin)};
  }
  const size_t slack = budget - (core.end - core.begin);
  size_t begin = SentenceAtOrBefore(text, core.begin,
                                    std::max(bounds.begin, Minus(core.begin, slack * 3 / 5)));
  if (begin == std::string_view::npos) {
    begin =
        WordBeginAtOrAfter(text, std::max(bounds.begin, Minus(core.begin, slack / 3)), core.begin);
  }
  const size_t end_max = std::min(bounds.end, begin + budget);
  if (end_max < bounds.end) return {begin, EndAtOrBefore(text, end_max, core.end)};
  // The text ends here; the rest of the budget goes to the text before the core.
  const size_t lowest = std::max(bounds.begin, Minus(end_max, budget));
  return {WordBeginAtOrAfter(text, std::min(lowest, begin), begin), end_max};
}

}  // namespace search::docserver
