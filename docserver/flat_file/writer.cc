#include "docserver/flat_file/writer.h"

#include <zstd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "docserver/flat_file/dictionary.h"
#include "docserver/store_checks.h"
#include "neptune/base/file.h"

namespace search::docserver::flat_file {

Writer::Writer(std::string directory, const DocumentStoreOptions& options,
               std::unique_ptr<OutputFile> data)
    : directory_(std::move(directory)),
      options_(options),
      data_(std::move(data)),
      compressor_(ZSTD_createCCtx(), &ZSTD_freeCCtx),
      dictionary_(nullptr, &ZSTD_freeCDict) {}

Writer::~Writer() = default;

neptune::StatusOr<std::unique_ptr<Writer>> Writer::Create(const std::string& directory,
                                                          const DocumentStoreOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(auto data, OutputFile::Create(directory + "/" + kDataFileName));
  return std::unique_ptr<Writer>(new Writer(directory, options, std::move(data)));
}

neptune::Status Writer::Put(const StoredDocument& document) {
  NEPTUNE_RETURN_IF_ERROR(CheckDocument(document));
  urls_.Add(document.url(), document.doc_id());
  if (!is_sampling_) {
    std::string bytes;
    const Record record = Serialise(document, &bytes);
    return AppendRecord(record, bytes);
  }
  entries_.try_emplace(document.doc_id());  // its place follows
  sample_records_.push_back(Serialise(document, &sample_));
  return sample_.size() >= kSampleSize ? WriteSample() : neptune::OkStatus();
}

Writer::Record Writer::Serialise(const StoredDocument& document, std::string* bytes) {
  const size_t size_before = bytes->size();
  const std::string_view first = FirstPiece(document.text());
  if (first.size() == document.text().size()) {
    document.AppendToString(bytes);
    return {document.doc_id(), bytes->size() - size_before, 0};
  }
  WithFirstPiece(document).AppendToString(bytes);
  const size_t document_size = bytes->size() - size_before;
  bytes->append(document.text(), first.size());
  return {document.doc_id(), document_size, document.text().size() - first.size()};
}

neptune::Status Writer::WriteSample() {
  is_sampling_ = false;
  std::vector<size_t> sizes;
  for (const Record& record : sample_records_) {
    sizes.push_back(record.document_size + record.rest_size);
  }
  const std::string dictionary = TrainDictionary(sample_, sizes);
  if (!dictionary.empty()) {
    dictionary_.reset(
        ZSTD_createCDict(dictionary.data(), dictionary.size(), options_.compression_level));
  }
  NEPTUNE_RETURN_IF_ERROR(data_->Append(EncodeDataHeader(dictionary)));
  std::string_view rest = sample_;
  for (size_t i = 0; i < sizes.size(); ++i) {
    NEPTUNE_RETURN_IF_ERROR(AppendRecord(sample_records_[i], rest.substr(0, sizes[i])));
    rest.remove_prefix(sizes[i]);
  }
  sample_ = {};
  sample_records_ = {};
  return neptune::OkStatus();
}

neptune::Status Writer::AppendRecord(const Record& record, std::string_view bytes) {
  entries_[record.doc_id] = {.doc_id = record.doc_id,
                             .block_offset = data_->size(),
                             .raw_offset = static_cast<uint32_t>(raw_.size()),
                             .raw_size = static_cast<uint32_t>(record.document_size)};
  raw_.append(bytes.substr(0, record.document_size));
  ++raw_record_count_;
  std::string_view rest = bytes.substr(record.document_size);
  if (rest.empty() && raw_.size() < options_.block_size) return neptune::OkStatus();
  NEPTUNE_RETURN_IF_ERROR(CloseBlock());
  while (!rest.empty()) {
    raw_ = FirstPiece(rest);
    rest.remove_prefix(raw_.size());
    NEPTUNE_RETURN_IF_ERROR(CloseBlock());
  }
  return neptune::OkStatus();
}

neptune::Status Writer::CloseBlock() {
  if (raw_.empty()) return neptune::OkStatus();
  compressed_.resize(ZSTD_compressBound(raw_.size()));
  const size_t size =
      dictionary_ != nullptr
          ? ZSTD_compress_usingCDict(compressor_.get(), compressed_.data(), compressed_.size(),
                                     raw_.data(), raw_.size(), dictionary_.get())
          : ZSTD_compressCCtx(compressor_.get(), compressed_.data(), compressed_.size(),
                              raw_.data(), raw_.size(), options_.compression_level);
  if (ZSTD_isError(size)) {
    return neptune::Internal("compress a block: ", ZSTD_getErrorName(size));
  }
  Block block;
  block.raw_size = static_cast<uint32_t>(raw_.size());
  block.record_count = raw_record_count_;
  block.payload = std::string_view(compressed_).substr(0, size);
  NEPTUNE_RETURN_IF_ERROR(data_->Append(EncodeBlockHeader(block)));
  NEPTUNE_RETURN_IF_ERROR(data_->Append(block.payload));
  raw_.clear();
  raw_record_count_ = 0;
  return neptune::OkStatus();
}

std::string Writer::SortedEntries() const {
  std::vector<IndexEntry> sorted;
  sorted.reserve(entries_.size());
  for (const auto& [doc_id, entry] : entries_) sorted.push_back(entry);
  std::sort(sorted.begin(), sorted.end(),
            [](const IndexEntry& a, const IndexEntry& b) { return a.doc_id < b.doc_id; });
  std::string encoded;
  encoded.reserve(sorted.size() * kIndexEntrySize);
  for (const IndexEntry& entry : sorted) AppendIndexEntry(entry, &encoded);
  return encoded;
}

neptune::Status Writer::Seal() {
  if (is_sampling_) NEPTUNE_RETURN_IF_ERROR(WriteSample());
  NEPTUNE_RETURN_IF_ERROR(CloseBlock());
  const uint64_t data_size = data_->size();
  NEPTUNE_RETURN_IF_ERROR(data_->SyncAndClose());
  NEPTUNE_RETURN_IF_ERROR(urls_.Write(directory_));
  return neptune::WriteFileAtomically(directory_ + "/" + kIndexFileName,
                                      EncodeIndex(SortedEntries(), data_size));
}

}  // namespace search::docserver::flat_file
