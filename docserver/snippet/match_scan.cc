#include "docserver/snippet/match_scan.h"

#include <algorithm>
#include <bitset>

#include "docserver/snippet/boundaries.h"
#include "index/core/analysis/unicode.h"

namespace search::docserver {

namespace {

constexpr size_t kStepSize = size_t{16} << 10;
constexpr size_t kWordCountMax = size_t{1} << 14;
// Stems of an analyzer that few texts need; the default table is for bulk work.
constexpr size_t kStemCacheSize = size_t{1} << 11;

// End of a step that begins at `begin`: after white space if there is any, else between characters.
size_t StepEnd(std::string_view text, size_t begin) {
  if (text.size() - begin <= kStepSize) return text.size();
  const std::string_view step = text.substr(begin, kStepSize);
  for (size_t size = step.size(); size > step.size() / 2; --size) {
    if (IsBlank(step[size - 1])) return begin + size;
  }
  const size_t size = index::unicode::CutSize(text.substr(begin), kStepSize);
  return begin + (size == 0 ? kStepSize : size);
}

}  // namespace

void MatchScan::Begin(std::string_view text, const QueryTerms* terms) {
  text_ = text;
  terms_ = terms;
  at_ = 0;
  analysed_position_ = 0;
  first_unmatched_ = 0;
  words_.clear();
  occurrences_.clear();
}

bool MatchScan::ScanStep() {
  if (IsAtEnd() || words_.size() == kWordCountMax) return false;
  const size_t end = StepEnd(text_, at_);
  if (method_ == Method::kAnalyseText || terms_->wanted().has_names()) {
    AnalyseWords(at_, end);
  } else {
    FindWords(at_, end);
  }
  AddOccurrences();
  at_ = end;
  return true;
}

void MatchScan::FindWords(size_t begin, size_t end) {
  finder_.Find(text_.substr(begin, end - begin), terms_->wanted(), &tokens_);
  for (const index::Token& token : tokens_) {
    const int term = terms_->Find(token.term);
    if (term == QueryTerms::kNoTerm) continue;
    if (!AddWord(token, term, begin, PositionAt(begin + token.begin_byte))) return;
  }
}

// The position of the next matched word, relative to the last one before it.
uint64_t MatchScan::PositionAt(size_t begin) const {
  const uint64_t span_max = terms_->phrase_span_max();
  if (span_max == 0 || words_.empty()) return 0;
  const MatchedWord& last = words_.back();
  const size_t between = index::TermFinder::CountPositions(text_, last.end, begin, span_max);
  return last.position + 1 + between;
}

void MatchScan::AnalyseWords(size_t begin, size_t end) {
  if (analyzer_ == nullptr) {
    analyzer_ = std::make_unique<index::Analyzer>(
        index::AnalyzerOptions{.stem_cache_size = kStemCacheSize});
  }
  analyzer_->Analyze(text_.substr(begin, end - begin), &tokens_);
  for (const index::Token& token : tokens_) {
    const int term = terms_->Find(token.term);
    if (term == QueryTerms::kNoTerm) continue;
    if (!AddWord(token, term, begin, analysed_position_ + token.position)) return;
  }
  if (!tokens_.empty()) analysed_position_ += tokens_.back().position + 1;
}

// False once no more words are kept.
bool MatchScan::AddWord(const index::Token& token, int term, size_t step_begin, uint64_t position) {
  words_.push_back({.begin = step_begin + token.begin_byte,
                    .end = step_begin + token.end_byte,
                    .position = position,
                    .term = term,
                    .is_marked = terms_->UnitOf(term) != QueryTerms::kNoUnit});
  return words_.size() < kWordCountMax;
}

// Converts the words of the last step into occurrences. Phrases may begin in an earlier step.
void MatchScan::AddOccurrences() {
  for (size_t i = first_unmatched_; i < words_.size(); ++i) {
    if (const int unit = terms_->UnitOf(words_[i].term); unit != QueryTerms::kNoUnit) {
      occurrences_.push_back({words_[i].begin, words_[i].end, unit});
    }
    for (const QueryTerms::Phrase& phrase : terms_->phrases()) AddPhraseEndingAt(phrase, i);
  }
  first_unmatched_ = words_.size();
  if (terms_->phrases().empty()) return;
  std::stable_sort(occurrences_.begin(), occurrences_.end(),
                   [](const Occurrence& a, const Occurrence& b) { return a.begin < b.begin; });
}

void MatchScan::AddPhraseEndingAt(const QueryTerms::Phrase& phrase, size_t last) {
  if (words_[last].term != phrase.words.back().term) return;
  phrase_words_.clear();
  size_t at = last;
  for (size_t k = phrase.words.size(); k-- > 0;) {
    const uint64_t distance = phrase.words.back().position - phrase.words[k].position;
    const auto is_before = [&] { return words_[at].position + distance < words_[last].position; };
    // A name with a sign and its first word have one position.
    while (!is_before() && (words_[at].position + distance > words_[last].position ||
                            words_[at].term != phrase.words[k].term)) {
      if (at == 0) return;
      --at;
    }
    if (is_before()) return;
    phrase_words_.push_back(at);
  }
  for (const size_t word : phrase_words_) words_[word].is_marked = true;
  occurrences_.push_back({words_[at].begin, words_[last].end, phrase.unit});
}

bool MatchScan::HasAllUnits() const {
  std::bitset<kUnitCountMax> found;
  for (const Occurrence& occurrence : occurrences_) {
    found.set(static_cast<size_t>(occurrence.unit));
  }
  return found.count() == terms_->unit_count();
}

}  // namespace search::docserver
