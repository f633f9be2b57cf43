#include "index/core/partition/collection_terms.h"

#include <algorithm>
#include <queue>
#include <span>
#include <utility>

#include "index/core/segment/length_code.h"
#include "index/core/segment/posting_cursor.h"

namespace search::index {
namespace {

constexpr uint32_t kTermsTotalsSection = 1;
constexpr uint32_t kTermsHeadsSection = 2;
constexpr uint32_t kTermsBlocksSection = 3;
constexpr uint32_t kTermsBytesSection = 4;

struct Totals {
  uint64_t document_count = 0;
  std::array<uint64_t, kFieldCount> length_sums = {};
  uint64_t term_count = 0;
};

// A dictionary to add up and, if some documents of its segment are deleted, the segment.
struct Source {
  const TermDictionary* terms = nullptr;
  const Segment* segment = nullptr;
  const LiveDocuments* live = nullptr;
};

class TermsWriter {
 public:
  explicit TermsWriter(std::vector<Source> sources) : sources_(std::move(sources)) {}

  void AddDocuments(uint64_t count, const std::array<uint64_t, kFieldCount>& length_sums) {
    totals_.document_count += count;
    for (size_t field = 0; field < kFieldCount; ++field) {
      totals_.length_sums[field] += length_sums[field];
    }
  }

  // Adds a term. REQUIRES: terms ascend; no sources were given.
  void AddTerm(std::string_view key, uint64_t frequency) {
    if (frequency == 0) return;
    terms_.Add(key, {.document_frequency =
                         static_cast<uint32_t>(std::min<uint64_t>(frequency, UINT32_MAX))});
  }

  neptune::Status Write(const std::string& path) {
    NEPTUNE_RETURN_IF_ERROR(AddAllTerms());
    totals_.term_count = terms_.term_count();
    NEPTUNE_ASSIGN_OR_RETURN(auto file, SectionFileWriter::Create(path, kCollectionTermsKind));
    file->BeginSection(kTermsTotalsSection);
    file->AppendArray(std::span<const Totals>(&totals_, 1));
    file->BeginSection(kTermsHeadsSection);
    file->AppendArray(terms_.heads());
    file->BeginSection(kTermsBlocksSection);
    file->AppendArray(terms_.blocks());
    file->BeginSection(kTermsBytesSection);
    file->Append(terms_.bytes());
    return file->Finish().status();
  }

 private:
  neptune::Status AddAllTerms() {
    std::vector<TermCursor> cursors;
    cursors.reserve(sources_.size());
    const auto is_later = [&](size_t a, size_t b) { return cursors[a].key() > cursors[b].key(); };
    std::priority_queue<size_t, std::vector<size_t>, decltype(is_later)> queue(is_later);
    const auto advance = [&](size_t i) {
      if (cursors[i].Next()) queue.push(i);
      return cursors[i].status();
    };
    for (size_t i = 0; i < sources_.size(); ++i) {
      cursors.emplace_back(*sources_[i].terms);
      NEPTUNE_RETURN_IF_ERROR(advance(i));
    }
    while (!queue.empty()) {
      const std::string key(cursors[queue.top()].key());
      uint64_t frequency = 0;
      while (!queue.empty() && cursors[queue.top()].key() == key) {
        const size_t i = queue.top();
        queue.pop();
        NEPTUNE_ASSIGN_OR_RETURN(const uint32_t count, Count(sources_[i], cursors[i].entry()));
        frequency += count;
        NEPTUNE_RETURN_IF_ERROR(advance(i));
      }
      AddTerm(key, frequency);
    }
    return neptune::OkStatus();
  }

  // Counts the live documents of a term; adds their words to the lengths.
  neptune::StatusOr<uint32_t> Count(const Source& source, const TermEntry& entry) {
    if (source.live == nullptr) return entry.document_frequency;
    PostingCursor cursor(source.segment->postings(), entry, source.segment->document_count());
    uint32_t count = 0;
    while (cursor.Next() != kNoDocument) {
      if (!source.live->IsLive(cursor.ordinal())) continue;
      ++count;
      for (size_t field = 0; field < kFieldCount && source.segment->has_positions(); ++field) {
        totals_.length_sums[field] += cursor.frequency(static_cast<Field>(field));
      }
    }
    if (!cursor.damaged()) return count;
    return neptune::DataLoss(source.segment->name(), ": postings are damaged");
  }

  std::vector<Source> sources_;
  Totals totals_;
  TermDictionaryBuilder terms_;
};

std::array<uint64_t, kFieldCount> CodedLengths(const Segment& segment, const LiveDocuments& live) {
  std::array<uint64_t, kFieldCount> sums = {};
  for (uint32_t ordinal = 0; ordinal < segment.document_count(); ++ordinal) {
    if (!live.IsLive(ordinal)) continue;
    const uint32_t codes = segment.length_codes()[ordinal];
    for (size_t field = 0; field < kFieldCount; ++field) {
      sums[field] += static_cast<uint64_t>(DecodeLength(static_cast<uint8_t>(codes >> 8 * field)));
    }
  }
  return sums;
}

}  // namespace

neptune::StatusOr<std::shared_ptr<const CollectionTerms>> CollectionTerms::Open(
    const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(auto file, SectionFile::Open(path, kCollectionTermsKind, {}));
  return FromFile(std::move(file));
}

neptune::StatusOr<std::shared_ptr<const CollectionTerms>> CollectionTerms::FromFile(
    std::unique_ptr<SectionFile> file) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto totals, file->Array<Totals>(kTermsTotalsSection));
  if (totals.size() != 1) return file->Damaged("totals");
  NEPTUNE_ASSIGN_OR_RETURN(const auto heads, file->Array<uint64_t>(kTermsHeadsSection));
  NEPTUNE_ASSIGN_OR_RETURN(const auto blocks, file->Array<TermBlock>(kTermsBlocksSection));
  NEPTUNE_ASSIGN_OR_RETURN(const auto bytes, file->Section(kTermsBytesSection));
  std::shared_ptr<CollectionTerms> terms(new CollectionTerms);
  NEPTUNE_ASSIGN_OR_RETURN(
      terms->terms_, TermDictionary::FromSections(totals[0].term_count, heads, blocks, bytes));
  terms->document_count_ = totals[0].document_count;
  terms->length_sums_ = totals[0].length_sums;
  terms->file_ = std::move(file);
  return std::shared_ptr<const CollectionTerms>(std::move(terms));
}

neptune::StatusOr<uint32_t> CollectionTerms::DocumentFrequency(std::string_view key) const {
  NEPTUNE_ASSIGN_OR_RETURN(const auto entry, terms_.Find(key));
  return entry.has_value() ? entry->document_frequency : 0;
}

neptune::Status CountTerms(const std::vector<CountedSegment>& segments, const std::string& path) {
  std::vector<Source> sources;
  for (const auto& [segment, live] : segments) {
    const bool some_deleted = live != nullptr && live->live_count() < segment->document_count();
    sources.push_back({&segment->terms(), segment, some_deleted ? live : nullptr});
  }
  TermsWriter writer(sources);
  for (const Source& source : sources) {
    if (source.live == nullptr) {
      writer.AddDocuments(source.segment->document_count(), source.segment->totals().length_sums);
    } else if (source.segment->has_positions()) {
      writer.AddDocuments(source.live->live_count(), {});  // their lengths are added with the terms
    } else {
      writer.AddDocuments(source.live->live_count(), CodedLengths(*source.segment, *source.live));
    }
  }
  return writer.Write(path);
}

neptune::Status AddTerms(const std::vector<const CollectionTerms*>& parts,
                         const std::string& path) {
  std::vector<Source> sources;
  for (const CollectionTerms* part : parts) sources.push_back({.terms = &part->terms()});
  TermsWriter writer(std::move(sources));
  for (const CollectionTerms* part : parts) {
    writer.AddDocuments(part->document_count(), part->length_sums());
  }
  return writer.Write(path);
}

neptune::Status WriteTerms(const CollectionNumbers& numbers, const std::string& path) {
  TermsWriter writer({});
  writer.AddDocuments(numbers.document_count, numbers.length_sums);
  for (const auto& [key, frequency] : numbers.document_frequencies) writer.AddTerm(key, frequency);
  return writer.Write(path);
}

}  // namespace search::index
