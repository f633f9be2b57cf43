#include "docserver/snippet/snippet.h"

#include <algorithm>
#include <vector>

#include "docserver/snippet/boundaries.h"
#include "docserver/snippet/passages.h"
#include "docserver/snippet/piece_writer.h"

namespace search::docserver {

namespace {

constexpr std::string_view kFirstSeparator = "… ";
constexpr std::string_view kMiddleSeparator = " … ";
constexpr std::string_view kLastSeparator = " …";
// Shorter snippets have no separators and one passage.
constexpr size_t kSeparatedSizeMin = 64;

bool IsAllBlank(std::string_view text) { return std::all_of(text.begin(), text.end(), IsBlank); }

}  // namespace

class SnippetMaker::Rep {
 public:
  explicit Rep(MatchScan::Method method) : matches_(method) {}

  void Make(std::string_view text, const QueryTerms& query, const SnippetOptions& options,
            google::protobuf::RepeatedPtrField<SnippetPiece>* pieces) {
    const bool has_separators = options.size_max >= kSeparatedSizeMin;
    const size_t separator_size = has_separators ? kMiddleSeparator.size() : 0;
    const size_t count_max =
        has_separators ? std::clamp<size_t>(options.passage_count_max, 1, kPassageCountMax) : 1;
    const auto choose = [&] {
      const std::vector<Occurrence>& occurrences = matches_.occurrences();
      return ChoosePassages(occurrences, UnitWeights(query, occurrences), options.size_max,
                            separator_size, count_max);
    };
    matches_.Begin(query.empty() ? std::string_view() : text.substr(0, options.scan_size_max),
                   &query);
    while (matches_.ScanStep()) {
      if (!matches_.IsAtEnd() && matches_.HasAllUnits() && choose().size() == 1) break;
    }
    Write(text, Ranges(text, choose(), options.size_max - separator_size), has_separators, pieces);
  }

  void FindMatches(std::string_view text, const QueryTerms& query, size_t count_max,
                   TextRanges* ranges) {
    ranges->Clear();
    if (query.empty()) return;
    matches_.Begin(text, &query);
    while (matches_.ScanStep()) {
    }
    size_t at = 0;
    for (const MatchedWord& word : matches_.words()) {
      if (static_cast<size_t>(ranges->begins_size()) == count_max) return;
      if (!word.is_marked || word.begin < at) continue;
      ranges->add_begins(static_cast<uint32_t>(word.begin));
      ranges->add_sizes(static_cast<uint32_t>(word.end - word.begin));
      at = word.end;
    }
  }

 private:
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
    const std::vector<MatchedWord>& words = matches_.words();
    auto word =
        std::lower_bound(words.begin(), words.end(), range.begin,
                         [](const MatchedWord& a, size_t begin) { return a.begin < begin; });
    size_t at = range.begin;
    for (; word != words.end() && word->begin < range.end; ++word) {
      // A word of a marked name (`--help`) may be inside of it.
      if (!word->is_marked || word->begin < at || word->end > range.end) continue;
      writer->Text(text.substr(at, word->begin - at), false);
      writer->Text(text.substr(word->begin, word->end - word->begin), true);
      at = word->end;
    }
    writer->Text(text.substr(at, range.end - at), false);
  }

  MatchScan matches_;
};

SnippetMaker::SnippetMaker(MatchScan::Method method) : rep_(std::make_unique<Rep>(method)) {}
SnippetMaker::~SnippetMaker() = default;

void SnippetMaker::Make(std::string_view text, const QueryTerms& query,
                        const SnippetOptions& options,
                        google::protobuf::RepeatedPtrField<SnippetPiece>* pieces) {
  if (options.size_max == 0) {
    pieces->Clear();
    return;
  }
  rep_->Make(text, query, options, pieces);
}

void SnippetMaker::FindMatches(std::string_view text, const QueryTerms& query, size_t count_max,
                               TextRanges* ranges) {
  rep_->FindMatches(text, query, count_max, ranges);
}

}  // namespace search::docserver
