#include "docserver/flat_file/writer.h"

#include <zstd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "neptune/base/file.h"

namespace search::docserver::flat_file {

Writer::Writer(std::string directory, const DocumentStoreOptions& options,
               std::unique_ptr<OutputFile> data)
    : directory_(std::move(directory)),
      options_(options),
      data_(std::move(data)),
      compressor_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {}

Writer::~Writer() = default;

neptune::StatusOr<std::unique_ptr<Writer>> Writer::Create(const std::string& directory,
                                                          const DocumentStoreOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(auto data, OutputFile::Create(directory + "/" + kDataFileName));
  NEPTUNE_RETURN_IF_ERROR(data->Append(EncodeDataHeader()));
  return std::unique_ptr<Writer>(new Writer(directory, options, std::move(data)));
}

neptune::Status Writer::Put(const StoredDocument& document) {
  const size_t size = document.ByteSizeLong();
  if (size > kDocumentSizeMax) {
    return neptune::InvalidArgument("put document ", document.doc_id(), ": ", size,
                                    " bytes, more than ", kDocumentSizeMax);
  }
  IndexEntry entry;
  entry.doc_id = document.doc_id();
  entry.block_offset = data_->size();
  entry.raw_offset = static_cast<uint32_t>(raw_.size());
  entry.raw_size = static_cast<uint32_t>(size);
  document.AppendToString(&raw_);
  ++raw_record_count_;
  entries_[entry.doc_id] = entry;
  urls_.Add(document.url(), entry.doc_id);
  return raw_.size() >= options_.block_size ? CloseBlock() : neptune::OkStatus();
}

neptune::Status Writer::CloseBlock() {
  if (raw_record_count_ == 0) return neptune::OkStatus();
  compressed_.resize(ZSTD_compressBound(raw_.size()));
  const size_t size = ZSTD_compressCCtx(compressor_.get(), compressed_.data(), compressed_.size(),
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
  NEPTUNE_RETURN_IF_ERROR(CloseBlock());
  const uint64_t data_size = data_->size();
  NEPTUNE_RETURN_IF_ERROR(data_->SyncAndClose());
  NEPTUNE_RETURN_IF_ERROR(urls_.Write(directory_));
  return neptune::WriteFileAtomically(directory_ + "/" + kIndexFileName,
                                      EncodeIndex(SortedEntries(), data_size));
}

}  // namespace search::docserver::flat_file
