#include "docserver/snippet/snippet.h"

#include <algorithm>
#include <vector>

#include "docserver/snippet/boundaries.h"
#include "docserver/snippet/passages.h"
#include "docserver/snippet/piece_writer.h"
#include "docserver/snippet/query_terms.h"
#include "index/core/analysis/analyzer.h"
#include "index/core/analysis/unicode.h"

namespace search::docserver {

namespace {

constexpr std::string_view kFirstSeparator = "… ";
constexpr std::string_view kMiddleSeparator = " … ";
constexpr std::string_view kLastSeparator = " …";
// Shorter snippets have no separators and one passage.
constexpr size_t kSeparatedSizeMin = 64;
// The text is scanned in steps, so that a huge page with a good passage early is not read to its
// end.
constexpr size_t kStepSize = size_t{16} << 10;
// Scanning stops after this many matching words.
constexpr size_t kWordCountMax = size_t{1} << 14;

// A word of the text whose term is in the query.
struct Word {
  size_t begin;
  size_t end;
  uint64_t position;
  int term;
  bool is_marked;
};

bool IsAllBlank(std::string_view text) { return std::all_of(text.begin(), text.end(), IsBlank); }

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

class SnippetMaker::Rep {
 public:
  void Make(std::string_view text, const index::Query& query, const SnippetOptions& options,
            google::protobuf::RepeatedPtrField<SnippetPiece>* pieces) {
    const bool has_separators = options.size_max >= kSeparatedSizeMin;
    const size_t separator_size = has_separators ? kMiddleSeparator.size() : 0;
    const size_t count_max =
        has_separators ? std::clamp<size_t>(options.passage_count_max, 1, kPassageCountMax) : 1;
    words_.clear();
    occurrences_.clear();
    const QueryTerms terms(query);
    const auto choose = [&] {
      return ChoosePassages(occurrences_, UnitWeights(terms, occurrences_), options.size_max,
                            separator_size, count_max);
    };
    if (!terms.empty()) Scan(text, options, terms, choose);
    Write(text, Ranges(text, choose(), options.size_max - separator_size), has_separators, pieces);
  }

  void FindMatches(std::string_view text, const index::Query& query, size_t count_max,
                   TextRanges* ranges) {
    ranges->Clear();
    words_.clear();
    occurrences_.clear();
    const QueryTerms terms(query);
    if (terms.empty()) return;
    SnippetOptions all;
    all.scan_size_max = text.size();
    Scan(text, all, terms, [] { return std::vector<Passage>(); });
    size_t at = 0;
    for (const Word& word : words_) {
      if (static_cast<size_t>(ranges->begins_size()) == count_max) return;
      if (!word.is_marked || word.begin < at) continue;
      ranges->add_begins(static_cast<uint32_t>(word.begin));
      ranges->add_sizes(static_cast<uint32_t>(word.end - word.begin));
      at = word.end;
    }
  }

 private:
  // Fills words_ and occurrences_ step by step until one passage contains all units of the query.
  template <typename ChooseFunction>
  void Scan(std::string_view text, const SnippetOptions& options, const QueryTerms& terms,
            const ChooseFunction& choose) {
    const std::string_view scanned = text.substr(0, options.scan_size_max);
    uint64_t first_position = 0;
    size_t first_unmatched = 0;
    for (size_t begin = 0; begin < scanned.size() && words_.size() < kWordCountMax;) {
      const size_t end = StepEnd(scanned, begin);
      analyzer_.Analyze(scanned.substr(begin, end - begin), &tokens_);
      AddWords(terms, begin, first_position);
      first_unmatched = AddOccurrences(terms, first_unmatched);
      if (!tokens_.empty()) first_position += tokens_.back().position + 1;
      begin = end;
      if (begin < scanned.size() && HasAllUnits(terms) && choose().size() == 1) return;
    }
  }

  void AddWords(const QueryTerms& terms, size_t offset, uint64_t first_position) {
    for (const index::Token& token : tokens_) {
      const int term = terms.Find(token.term);
      if (term == QueryTerms::kNoTerm) continue;
      words_.push_back({.begin = offset + token.begin_byte,
                        .end = offset + token.end_byte,
                        .position = first_position + token.position,
                        .term = term,
                        .is_marked = terms.UnitOf(term) != QueryTerms::kNoUnit});
      if (words_.size() == kWordCountMax) return;
    }
  }

  // Converts the words from `first` on into occurrences. Phrases may begin in the previous step.
  size_t AddOccurrences(const QueryTerms& terms, size_t first) {
    for (size_t i = first; i < words_.size(); ++i) {
      if (const int unit = terms.UnitOf(words_[i].term); unit != QueryTerms::kNoUnit) {
        occurrences_.push_back({words_[i].begin, words_[i].end, unit});
      }
      for (const QueryTerms::Phrase& phrase : terms.phrases()) AddPhraseEndingAt(phrase, i);
    }
    std::stable_sort(occurrences_.begin(), occurrences_.end(),
                     [](const Occurrence& a, const Occurrence& b) { return a.begin < b.begin; });
    return words_.size();
  }

  void AddPhraseEndingAt(const QueryTerms::Phrase& phrase, size_t last) {
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

  bool HasAllUnits(const QueryTerms& terms) const {
    std::bitset<kUnitCountMax> found;
    for (const Occurrence& occurrence : occurrences_) {
      found.set(static_cast<size_t>(occurrence.unit));
    }
    return found.count() == terms.unit_count();
  }

  // The passages extended by text around them; the beginning of the text if there are none.
  static std::vector<TextRange> Ranges(std::string_view text, const std::vector<Passage>& passages,
                                       size_t size_max) {
    std::vector<TextRange> ranges;
    size_t lowest = 0;
    for (size_t i = 0; i < passages.size(); ++i) {
      const size_t highest = i + 1 < passages.size() ? passages[i + 1].begin : text.size();
      const Passage& passage = passages[i];
      ranges.push_back(
          Expand(text, {passage.begin, passage.end}, {lowest, highest}, passage.budget));
      lowest = ranges.back().end;
    }
    if (!passages.empty()) return ranges;
    const auto first = std::find_if_not(text.begin(), text.end(), IsBlank);
    if (first == text.end() || size_max == 0) return {};
    const size_t begin = static_cast<size_t>(first - text.begin());
    return {Expand(text, {begin, begin + 1}, {begin, text.size()}, size_max)};
  }

  void Write(std::string_view text, const std::vector<TextRange>& ranges, bool has_separators,
             google::protobuf::RepeatedPtrField<SnippetPiece>* pieces) const {
    PieceWriter writer(pieces);
    size_t written = 0;
    for (const TextRange& range : ranges) {
      const std::string_view gap = text.substr(written, range.begin - written);
      if (IsAllBlank(gap)) {
        writer.Text(gap, false);
      } else if (has_separators) {
        writer.Separator(pieces->empty() ? kFirstSeparator : kMiddleSeparator);
      }
      WriteRange(text, range, &writer);
      written = range.end;
    }
    if (has_separators && !ranges.empty() && !IsAllBlank(text.substr(written))) {
      writer.Separator(kLastSeparator);
    }
  }

  void WriteRange(std::string_view text, TextRange range, PieceWriter* writer) const {
    auto word = std::lower_bound(words_.begin(), words_.end(), range.begin,
                                 [](const Word& a, size_t begin) { return a.begin < begin; });
    size_t at = range.begin;
    for (; word != words_.end() && word->begin < range.end; ++word) {
      // A word of a marked name (`--help`) may be inside of it.
      if (!word->is_marked || word->begin < at || word->end > range.end) continue;
      writer->Text(text.substr(at, word->begin - at), false);
      writer->Text(text.substr(word->begin, word->end - word->begin), true);
      at = word->end;
    }
    writer->Text(text.substr(at, range.end - at), false);
  }

  index::Analyzer analyzer_;
  std::vector<index::Token> tokens_;
  std::vector<Word> words_;
  std::vector<Occurrence> occurrences_;
  std::vector<size_t> phrase_words_;
};

SnippetMaker::SnippetMaker() : rep_(std::make_unique<Rep>()) {}
SnippetMaker::~SnippetMaker() = default;

void SnippetMaker::Make(std::string_view text, const index::Query& query,
                        const SnippetOptions& options,
                        google::protobuf::RepeatedPtrField<SnippetPiece>* pieces) {
  if (options.size_max == 0) {
    pieces->Clear();
    return;
  }
  rep_->Make(text, query, options, pieces);
}

void SnippetMaker::FindMatches(std::string_view text, const index::Query& query, size_t count_max,
                               TextRanges* ranges) {
  rep_->FindMatches(text, query, count_max, ranges);
}

}  // namespace search::docserver
