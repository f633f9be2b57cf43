#include "docserver/flat_file/reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "docserver/flat_file/page_residency.h"

namespace search::docserver::flat_file {

Reader::Reader(std::string directory, Files files, const DataHeader& header)
    : directory_(std::move(directory)),
      data_(std::move(files.data)),
      index_file_(std::move(files.index_file)),
      index_(files.index),
      urls_(std::move(files.urls)),
      first_block_(header.size),
      decompressor_(header.dictionary) {}

neptune::StatusOr<std::unique_ptr<Reader>> Reader::Open(const std::string& directory) {
  auto data = neptune::MappedFile::Open(directory + "/" + kDataFileName);
  auto index_file = neptune::MappedFile::Open(directory + "/" + kIndexFileName);
  if (data.ok() && index_file.status().code() == neptune::StatusCode::kNotFound) {
    return neptune::FailedPrecondition("open flat-file store ", directory, ": never sealed");
  }
  if (index_file.ok() && data.status().code() == neptune::StatusCode::kNotFound) {
    return neptune::DataLoss("open flat-file store ", directory, ": ", kDataFileName,
                             " is missing");
  }
  NEPTUNE_RETURN_IF_ERROR(index_file.status());
  NEPTUNE_RETURN_IF_ERROR(data.status());
  const std::optional<IndexView> index = IndexView::Open(index_file->bytes());
  if (!index) return neptune::DataLoss("open flat-file store ", directory, ": damaged index");
  if (index->data_size() != data->bytes().size()) {
    return neptune::DataLoss("open flat-file store ", directory, ": ", kDataFileName, " has ",
                             data->bytes().size(), " bytes, its index says ", index->data_size());
  }
  const std::optional<DataHeader> header = DecodeDataHeader(data->bytes());
  if (!header) {
    return neptune::DataLoss("open flat-file store ", directory,
                             ": the data header is damaged or of a later version");
  }
  NEPTUNE_ASSIGN_OR_RETURN(auto urls, UrlTable::OpenIfThere(directory));
  Files files = {std::move(*data), std::move(*index_file), *index, std::move(urls)};
  return std::unique_ptr<Reader>(new Reader(directory, std::move(files), *header));
}

neptune::StatusOr<Block> Reader::LoadBlock(uint64_t* offset, std::string* raw) const {
  const std::string_view bytes = data_.bytes();
  const bool is_block = *offset >= first_block_ && *offset < bytes.size();
  const std::optional<Block> block = is_block ? DecodeBlock(bytes.substr(*offset)) : std::nullopt;
  if (!block) {
    return neptune::DataLoss("read flat-file store ", directory_, ": damaged block at byte ",
                             *offset);
  }
  raw->resize(block->raw_size);
  if (!decompressor_.Decompress(block->payload, raw)) {
    return neptune::DataLoss("read flat-file store ", directory_,
                             ": cannot decompress the block at byte ", *offset);
  }
  *offset += block->stored_size();
  return *block;
}

neptune::Status Reader::AppendPieces(uint64_t offset, size_t text_size_max,
                                     StoredDocument* document) const {
  std::string raw;
  uint64_t more = document->more_text_size();
  while (more > 0 && document->text().size() < text_size_max) {
    NEPTUNE_ASSIGN_OR_RETURN(const Block block, LoadBlock(&offset, &raw));
    if (block.record_count != 0 || raw.empty() || raw.size() > more) {
      return neptune::DataLoss("read flat-file store ", directory_, ": document ",
                               document->doc_id(), " lacks a piece of its text");
    }
    document->mutable_text()->append(raw);
    more -= raw.size();
  }
  document->set_more_text_size(more);
  return neptune::OkStatus();
}

neptune::Status Reader::ParseDocument(const IndexEntry& entry, std::string_view raw,
                                      StoredDocument* document) const {
  if (entry.raw_offset > raw.size() || entry.raw_size > raw.size() - entry.raw_offset ||
      !document->ParseFromArray(raw.data() + entry.raw_offset, static_cast<int>(entry.raw_size)) ||
      document->doc_id() != entry.doc_id) {
    return neptune::DataLoss("read flat-file store ", directory_, ": document ", entry.doc_id,
                             " is not where its index says");
  }
  return neptune::OkStatus();
}

neptune::StatusOr<FetchedDocuments> Reader::Fetch(std::span<const uint64_t> ids,
                                                  size_t text_size_max) const {
  struct Wanted {
    IndexEntry entry;
    size_t position;
  };
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (const auto entry = index_.Find(ids[i])) wanted.push_back({*entry, i});
  }
  std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
    return a.entry.block_offset < b.entry.block_offset;
  });

  FetchedDocuments documents(ids.size());
  std::string raw;
  std::optional<uint64_t> loaded_offset;  // of the block in `raw`
  uint64_t next_offset = 0;
  for (const Wanted& one : wanted) {
    if (one.entry.block_offset != loaded_offset) {
      next_offset = one.entry.block_offset;
      loaded_offset = next_offset;
      NEPTUNE_RETURN_IF_ERROR(LoadBlock(&next_offset, &raw).status());
    }
    StoredDocument& document = documents[one.position].emplace();
    NEPTUNE_RETURN_IF_ERROR(ParseDocument(one.entry, raw, &document));
    NEPTUNE_RETURN_IF_ERROR(AppendPieces(next_offset, text_size_max, &document));
  }
  return documents;
}

bool Reader::IsInMemory(std::span<const uint64_t> ids, size_t text_size_max) const {
  if (text_size_max > kTextPieceSize) return false;  // there may be further blocks
  const std::string_view bytes = data_.bytes();
  for (const uint64_t id : ids) {
    const auto entry = index_.Find(id);
    if (!entry) continue;
    if (entry->block_offset > bytes.size()) return false;
    const std::string_view rest = bytes.substr(entry->block_offset);
    if (!flat_file::IsInMemory(rest.substr(0, kBlockHeaderSize))) return false;
    const size_t size = StoredSizeOf(rest);
    if (size > kBlockSizeMax || !flat_file::IsInMemory(rest.substr(0, size))) return false;
  }
  return true;
}

neptune::Status Reader::CheckSound() const {
  NEPTUNE_RETURN_IF_ERROR(data_.CheckUnchanged());
  NEPTUNE_RETURN_IF_ERROR(index_file_.CheckUnchanged());
  return urls_.has_value() ? urls_->CheckSound() : neptune::OkStatus();
}

neptune::Status Reader::VerifyBlocks() const {
  const std::string_view bytes = data_.bytes();
  uint64_t offset = first_block_;
  while (offset < bytes.size()) {
    const std::optional<Block> block = DecodeBlock(bytes.substr(offset));
    if (!block) {
      return neptune::DataLoss("verify flat-file store ", directory_, ": damaged block at byte ",
                               offset);
    }
    offset += block->stored_size();
  }
  return neptune::OkStatus();
}

neptune::Status Reader::Verify() const {
  NEPTUNE_RETURN_IF_ERROR(VerifyBlocks());
  for (uint64_t begin = 0; begin < index_.entry_count(); begin += kFetchCountMax) {
    std::vector<uint64_t> ids;
    const uint64_t end = std::min(begin + kFetchCountMax, index_.entry_count());
    for (uint64_t i = begin; i < end; ++i) ids.push_back(index_.Entry(i).doc_id);
    NEPTUNE_RETURN_IF_ERROR(Fetch(ids, SIZE_MAX));
  }
  return neptune::OkStatus();
}

}  // namespace search::docserver::flat_file
