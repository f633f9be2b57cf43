#include "index/suggest/phrase_counts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "index/core/segment/varint.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

enum CountsSection : uint32_t { kRecordsSection = 1, kCountsTotalsSection = 2 };

constexpr uint64_t kCountMax = std::numeric_limits<uint32_t>::max();
// Maximum size of a title or surface; folding may shorten a text, so these are longer than keys.
constexpr uint64_t kTextSizeMax = 4 * kPhraseKeySizeMax;
constexpr uint64_t kVariantsMax = 1024;

void PutText(std::string_view text, std::string_view key, std::string* out) {
  if (text == key) text = {};
  PutVarint(text.size(), out);
  out->append(text);
}

}  // namespace

void NamedDocuments::Add(const NamedDocuments& more) {
  if (more.count == 0) return;
  const bool is_better =
      count == 0 || more.rank > rank || (more.rank == rank && more.doc_id < doc_id);
  const uint32_t sum = count > kCountMax - more.count ? uint32_t{kCountMax} : count + more.count;
  if (is_better) *this = more;
  count = sum;
}

neptune::StatusOr<std::unique_ptr<PhraseCountsWriter>> PhraseCountsWriter::Create(
    const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(
      auto file, SectionFileWriter::Create(neptune::StrCat(directory, "/", kPhraseCountsFileName),
                                           kPhraseCountsKind));
  file->BeginSection(kRecordsSection);
  return std::unique_ptr<PhraseCountsWriter>(new PhraseCountsWriter(std::move(file)));
}

void PhraseCountsWriter::Add(const PhraseCounts& phrase) {
  const auto differ =
      std::mismatch(phrase.key.begin(), phrase.key.end(), last_key_.begin(), last_key_.end());
  const auto shared = static_cast<size_t>(differ.first - phrase.key.begin());
  record_.clear();
  PutVarint(shared, &record_);
  PutVarint(phrase.key.size() - shared, &record_);
  record_.append(phrase.key, shared);
  const size_t variant_count = std::min<size_t>(phrase.variants.size(), kVariantsMax);
  PutVarint(2 * variant_count + (phrase.is_title_word ? 1 : 0), &record_);
  for (size_t i = 0; i < variant_count; ++i) {
    PutVarint(phrase.variants[i].document_count, &record_);
    PutText(phrase.variants[i].surface, phrase.key, &record_);
  }
  for (const NamedDocuments* const named : {&phrase.title, &phrase.name}) {
    PutVarint(named->count, &record_);
    if (named->count == 0) continue;
    PutVarint(named->rank, &record_);
    PutVarint(named->doc_id, &record_);
    PutText(named->text, phrase.key, &record_);
  }
  file_->Append(record_);
  last_key_ = phrase.key;
  ++phrase_count_;
}

neptune::Status PhraseCountsWriter::Finish(uint64_t document_count, uint64_t count_error_max) {
  const PhraseCountsTotals totals = {.phrase_count = phrase_count_,
                                     .document_count = document_count,
                                     .count_error_max = count_error_max};
  file_->BeginSection(kCountsTotalsSection);
  file_->AppendArray(std::span<const PhraseCountsTotals>(&totals, 1));
  return file_->Finish().status();
}

neptune::StatusOr<std::unique_ptr<PhraseCountsReader>> PhraseCountsReader::Open(
    const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(auto file,
                           SectionFile::Open(neptune::StrCat(directory, "/", kPhraseCountsFileName),
                                             kPhraseCountsKind, OpenOptions()));
  return FromFile(std::move(file));
}

neptune::StatusOr<std::unique_ptr<PhraseCountsReader>> PhraseCountsReader::FromFile(
    std::unique_ptr<SectionFile> file) {
  std::unique_ptr<PhraseCountsReader> reader(new PhraseCountsReader(std::move(file)));
  NEPTUNE_ASSIGN_OR_RETURN(const auto totals,
                           reader->file_->Array<PhraseCountsTotals>(kCountsTotalsSection));
  if (totals.size() != 1) return reader->file_->Damaged("expected one record of totals");
  reader->totals_ = totals[0];
  NEPTUNE_ASSIGN_OR_RETURN(reader->records_, reader->file_->Section(kRecordsSection));
  reader->Rewind();
  return reader;
}

void PhraseCountsReader::Rewind() {
  at_ = records_.data();
  last_key_.clear();
  phrase_ = {};
}

neptune::StatusOr<bool> PhraseCountsReader::Next() {
  if (at_ == records_.data() + records_.size()) return false;
  if (!Read()) return file_->Damaged("counts of a phrase near byte ", at_ - records_.data());
  return true;
}

bool PhraseCountsReader::Read() {
  return ReadKey() && ReadVariants() && ReadNamed(&phrase_.title) && ReadNamed(&phrase_.name);
}

bool PhraseCountsReader::ReadKey() {
  uint64_t shared = 0;
  uint64_t size = 0;
  last_key_ = phrase_.key;
  if (!ReadNextNumber(last_key_.size(), &shared) ||
      !ReadNextNumber(kPhraseKeySizeMax - shared, &size) ||
      size > static_cast<uint64_t>(records_.data() + records_.size() - at_)) {
    return false;
  }
  phrase_.key.resize(shared);
  phrase_.key.append(at_, size);
  at_ += size;
  return phrase_.key > last_key_;
}

bool PhraseCountsReader::ReadVariants() {
  uint64_t head = 0;
  if (!ReadNextNumber(2 * kVariantsMax + 1, &head)) return false;
  phrase_.is_title_word = head % 2 == 1;
  phrase_.variants.clear();
  for (uint64_t i = 0; i < head / 2; ++i) {
    uint64_t document_count = 0;
    PhraseVariant& variant = phrase_.variants.emplace_back();
    if (!ReadNextNumber(kCountMax, &document_count) || !ReadText(&variant.surface)) return false;
    variant.document_count = static_cast<uint32_t>(document_count);
  }
  return true;
}

bool PhraseCountsReader::ReadNamed(NamedDocuments* documents) {
  uint64_t count = 0;
  uint64_t rank = 0;
  *documents = {};
  if (!ReadNextNumber(kCountMax, &count)) return false;
  if (count > 0 && (!ReadNextNumber(kRankUnits, &rank) ||
                    !ReadNextNumber(std::numeric_limits<uint64_t>::max(), &documents->doc_id) ||
                    !ReadText(&documents->text))) {
    return false;
  }
  documents->count = static_cast<uint32_t>(count);
  documents->rank = static_cast<uint32_t>(rank);
  return true;
}

bool PhraseCountsReader::ReadNextNumber(uint64_t max, uint64_t* value) {
  return GetVarint(&at_, records_.data() + records_.size(), value) && *value <= max;
}

bool PhraseCountsReader::ReadText(std::string* text) {
  uint64_t size = 0;
  if (!ReadNextNumber(kTextSizeMax, &size) ||
      size > static_cast<uint64_t>(records_.data() + records_.size() - at_)) {
    return false;
  }
  if (size == 0) {
    *text = phrase_.key;
  } else {
    text->assign(at_, size);
  }
  at_ += size;
  return true;
}

}  // namespace search::index
