#include "index/core/builder/document_inverter.h"

#include <algorithm>

#include "index/core/document_fields.h"
#include "index/core/segment/segment_reader.h"

namespace search::index {
namespace {

// Prefetch distances in tokens for each part of a term's data. Measured: half and twice these
// distances differ by less than the noise.
constexpr size_t kEntryDistance = 24;
constexpr size_t kSlotDistance = 16;
constexpr size_t kDataDistance = 8;

AnalyzerOptions AnalyzerOptionsForBuilding(WordRule words) {
  AnalyzerOptions options;
  options.words = words;
  options.token_count_max = kFieldTokensMax;
  return options;
}

}  // namespace

DocumentInverter::DocumentInverter(WordRule words) : analyzer_(AnalyzerOptionsForBuilding(words)) {}

std::array<uint32_t, kFieldCount> DocumentInverter::Add(const IndexedDocument& document,
                                                        uint32_t ordinal) {
  const std::array<uint32_t, kFieldCount> lengths = {
      AddField(Field::kTitle, document.title, ordinal),
      AddField(Field::kBody, document.body, ordinal),
      AddField(Field::kExtra, document.extra_text, ordinal)};
  analyzer_.Analyze(FieldKind::kSite, document.site, &tokens_);
  for (const Token& token : tokens_) {
    table_.AddWithoutPosition(Segment::SiteKey(token.term), ordinal);
  }
  for (const std::string& key : FieldKeysOf(document)) table_.AddWithoutPosition(key, ordinal);
  return lengths;
}

// Returns the number of words indexed.
uint32_t DocumentInverter::AddField(Field field, std::string_view text, uint32_t ordinal) {
  if (text.empty()) return 0;
  const FieldKind kind = field == Field::kTitle ? FieldKind::kTitle : FieldKind::kBody;
  analyzer_.Analyze(kind, text, &tokens_);
  size_t count = std::min<size_t>(tokens_.size(), kFieldTokensMax);
  while (count > 0 && tokens_[count - 1].position >= kFieldTokensMax) --count;
  hashes_.resize(count + kEntryDistance);
  for (size_t i = 0; i < count; ++i) hashes_[i] = TermTable::HashOf(tokens_[i].term);
  for (size_t i = 0; i < std::min(count, kEntryDistance); ++i) table_.PrefetchEntry(hashes_[i]);
  for (size_t i = 0; i < count; ++i) {
    // Old hashes follow the last token; prefetching for them is harmless.
    table_.PrefetchEntry(hashes_[i + kEntryDistance]);
    table_.PrefetchSlot(hashes_[i + kSlotDistance]);
    table_.PrefetchData(hashes_[i + kDataDistance]);
    table_.Add(tokens_[i].term, hashes_[i], ordinal, field, tokens_[i].position);
  }
  return static_cast<uint32_t>(count);
}

}  // namespace search::index
