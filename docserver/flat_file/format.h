// Layout of the flat-file document store; README.md of this folder describes it with an example.
//
// Threads: pure functions.
// Units: all numbers little-endian; sizes and offsets in bytes.
// Errors: the readers return nullopt if magic, version or checksum do not match.
// Limits: kBlockRawSizeMax and kDictionarySizeMax, so that a damaged header cannot make a reader
//   allocate much memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "docserver/document_store.h"

namespace search::docserver::flat_file {

inline constexpr char kDataFileName[] = "documents.dat";
inline constexpr char kIndexFileName[] = "documents.idx";
// Version 1 has no dictionary; it is still read.
inline constexpr uint32_t kDataVersion = 2;
inline constexpr uint32_t kIndexVersion = 1;
inline constexpr uint32_t kBlockSizeMax = 1u << 20;
// A block is closed when it reaches its size, at most kBlockSizeMax; its last document may exceed
// that.
inline constexpr uint32_t kBlockRawSizeMax = kBlockSizeMax + kDocumentSizeMax;

// Bounds what a damaged header can make a reader digest.
inline constexpr uint32_t kDictionarySizeMax = 1u << 20;

inline constexpr size_t kDataHeaderSize = 16;
inline constexpr size_t kDictionaryHeaderSize = 16;
inline constexpr size_t kBlockHeaderSize = 24;
inline constexpr size_t kIndexHeaderSize = 40;
inline constexpr size_t kIndexEntrySize = 24;

// A run of documents compressed together, or a further piece of the text of the last document of
// the block before it, alone. Its checksum covers all bytes after it, including the payload.
struct Block {
  uint32_t raw_size = 0;      // of the decompressed documents
  uint32_t record_count = 0;  // documents in it; 0: a piece of text
  std::string_view payload;   // one zstd frame

  size_t stored_size() const { return kBlockHeaderSize + payload.size(); }
};

// Location of a document: a block of the data file and a range of the decompressed bytes.
struct IndexEntry {
  uint64_t doc_id = 0;
  uint64_t block_offset = 0;
  uint32_t raw_offset = 0;
  uint32_t raw_size = 0;
};

// The beginning of a data file.
struct DataHeader {
  // The zstd dictionary of all blocks; empty: they are compressed without one.
  std::string_view dictionary;
  size_t size = 0;  // of the header with the dictionary: the offset of the first block
};
// REQUIRES: dictionary.size() <= kDictionarySizeMax.
std::string EncodeDataHeader(std::string_view dictionary);
// The header of a data file of any version that is read.
std::optional<DataHeader> DecodeDataHeader(std::string_view bytes);

// The header that belongs before block.payload.
std::string EncodeBlockHeader(const Block& block);
// What the header at `bytes` says of the size of its block, unchecked. 0: there is no header.
size_t StoredSizeOf(std::string_view bytes);
// The block that begins at `bytes`, its checksum verified.
std::optional<Block> DecodeBlock(std::string_view bytes);

// A whole index file: `entries` are encoded entries, ascending by doc_id.
std::string EncodeIndex(std::string_view entries, uint64_t data_size);
void AppendIndexEntry(const IndexEntry& entry, std::string* out);

// View of an index file whose header and checksum are valid; `bytes` must outlive it.
class IndexView {
 public:
  static std::optional<IndexView> Open(std::string_view bytes);
  uint64_t data_size() const { return data_size_; }
  uint64_t entry_count() const { return entries_.size() / kIndexEntrySize; }
  // REQUIRES: position < entry_count().
  IndexEntry Entry(uint64_t position) const;
  // The entry of that document, by binary search.
  std::optional<IndexEntry> Find(uint64_t doc_id) const;

 private:
  std::string_view entries_;
  uint64_t data_size_ = 0;
};

}  // namespace search::docserver::flat_file
