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
  if (!is_sampling_) return AppendRecord(document.doc_id(), document.SerializeAsString());
  entries_.try_emplace(document.doc_id());  // its place follows
  const size_t size_before = sample_.size();
  document.AppendToString(&sample_);
  sample_sizes_.push_back(sample_.size() - size_before);
  sample_ids_.push_back(document.doc_id());
  return sample_.size() >= kSampleSize ? WriteSample() : neptune::OkStatus();
}

neptune::Status Writer::WriteSample() {
  is_sampling_ = false;
  const std::string dictionary = TrainDictionary(sample_, sample_sizes_);
  if (!dictionary.empty()) {
    dictionary_.reset(
        ZSTD_createCDict(dictionary.data(), dictionary.size(), options_.compression_level));
  }
  NEPTUNE_RETURN_IF_ERROR(data_->Append(EncodeDataHeader(dictionary)));
  std::string_view rest = sample_;
  for (size_t i = 0; i < sample_ids_.size(); ++i) {
    NEPTUNE_RETURN_IF_ERROR(AppendRecord(sample_ids_[i], rest.substr(0, sample_sizes_[i])));
    rest.remove_prefix(sample_sizes_[i]);
  }
  sample_ = {};
  sample_sizes_ = {};
  sample_ids_ = {};
  return neptune::OkStatus();
}

neptune::Status Writer::AppendRecord(uint64_t doc_id, std::string_view record) {
  entries_[doc_id] = {.doc_id = doc_id,
                      .block_offset = data_->size(),
                      .raw_offset = static_cast<uint32_t>(raw_.size()),
                      .raw_size = static_cast<uint32_t>(record.size())};
  raw_.append(record);
  ++raw_record_count_;
  return raw_.size() >= options_.block_size ? CloseBlock() : neptune::OkStatus();
}

neptune::Status Writer::CloseBlock() {
  if (raw_record_count_ == 0) return neptune::OkStatus();
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
