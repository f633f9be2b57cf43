#include "index/core/segment/live_documents.h"

#include <bit>
#include <utility>

#include "index/core/segment/format.h"

namespace search::index {
namespace {

size_t WordCount(uint32_t document_count) {
  return (document_count / 64 / LiveDocuments::kStride + 1) * LiveDocuments::kStride;
}

}  // namespace

LiveDocuments::LiveDocuments(uint32_t document_count)
    : document_count_(document_count),
      live_count_(document_count),
      words_(WordCount(document_count)) {
  for (size_t i = 0; i < document_count / 64; ++i) words_[i] = ~uint64_t{0};
  words_[document_count / 64] = (uint64_t{1} << (document_count % 64)) - 1;
}

std::string LiveDocuments::FileName(uint64_t generation) {
  return neptune::StrCat("live.", generation);
}

bool LiveDocuments::Delete(uint32_t ordinal) {
  if (!IsLive(ordinal)) return false;
  words_[ordinal / 64] &= ~(uint64_t{1} << (ordinal % 64));
  --live_count_;
  return true;
}

neptune::StatusOr<LiveDocuments> LiveDocuments::Read(const std::string& path,
                                                     uint64_t segment_fingerprint,
                                                     uint32_t document_count) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto file, SectionFile::Open(path, kLiveDocumentsKind, {}));
  return FromFile(*file, segment_fingerprint, document_count);
}

neptune::StatusOr<LiveDocuments> LiveDocuments::FromFile(const SectionFile& file,
                                                         uint64_t segment_fingerprint,
                                                         uint32_t document_count) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto totals,
                           file.Array<LiveDocumentsTotals>(kLiveDocumentsTotalsSection));
  if (totals.size() != 1) return file.Damaged("totals");
  if (totals[0].segment_fingerprint != segment_fingerprint ||
      totals[0].document_count != document_count) {
    return file.Damaged("made for another segment");
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto words, file.Array<uint64_t>(kLiveDocumentsWordsSection));
  LiveDocuments live(document_count);
  if (words.size() != live.words_.size()) return file.Damaged("size of the bitmap");
  uint32_t count = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if ((words[i] & ~live.words_[i]) != 0) return file.Damaged("bits set after the last document");
    count += static_cast<uint32_t>(std::popcount(words[i]));
  }
  if (count != totals[0].live_count) return file.Damaged("number of live documents");
  live.words_.assign(words.begin(), words.end());
  live.live_count_ = count;
  return live;
}

neptune::Status LiveDocuments::Write(const std::string& path, uint64_t segment_fingerprint) const {
  const LiveDocumentsTotals totals = {.segment_fingerprint = segment_fingerprint,
                                      .document_count = document_count_,
                                      .live_count = live_count_};
  NEPTUNE_ASSIGN_OR_RETURN(auto file, SectionFileWriter::Create(path, kLiveDocumentsKind));
  file->BeginSection(kLiveDocumentsTotalsSection);
  file->AppendArray(std::span(&totals, 1));
  file->BeginSection(kLiveDocumentsWordsSection);
  file->AppendArray(words());
  return file->Finish().status();
}

}  // namespace search::index
