#include "docserver/flat_file/format.h"

#include <xxhash.h>

#include <bit>
#include <cstring>

namespace search::docserver::flat_file {
namespace {

constexpr std::string_view kDataMagic = "NSDOCDAT";
constexpr std::string_view kIndexMagic = "NSDOCIDX";
constexpr size_t kChecksumSize = sizeof(uint64_t);

static_assert(std::endian::native == std::endian::little,
              "numbers are stored in host byte order, which must be little-endian");

template <typename Number>
void AppendNumber(Number value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename Number>
Number ReadNumber(std::string_view bytes, size_t offset) {
  Number value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// Checksum of two byte ranges: the hash of the first seeds that of the second.
uint64_t Checksum(std::string_view first, std::string_view second) {
  return XXH3_64bits_withSeed(second.data(), second.size(),
                              XXH3_64bits(first.data(), first.size()));
}

std::string FirstBytes(uint32_t version) {
  std::string bytes(kDataMagic);
  AppendNumber(version, &bytes);
  AppendNumber(uint32_t{0}, &bytes);
  return bytes;
}

}  // namespace

std::string EncodeDataHeader(std::string_view dictionary) {
  std::string header = FirstBytes(kDataVersion);
  std::string covered;
  AppendNumber(static_cast<uint32_t>(dictionary.size()), &covered);
  AppendNumber(uint32_t{0}, &covered);
  AppendNumber(Checksum(covered, dictionary), &header);
  header += covered;
  return header.append(dictionary);
}

std::optional<DataHeader> DecodeDataHeader(std::string_view bytes) {
  if (bytes.starts_with(FirstBytes(1))) return DataHeader{.size = kDataHeaderSize};
  constexpr size_t kHeadersSize = kDataHeaderSize + kDictionaryHeaderSize;
  if (!bytes.starts_with(FirstBytes(kDataVersion)) || bytes.size() < kHeadersSize) return {};
  const std::string_view covered = bytes.substr(kDataHeaderSize + kChecksumSize, kChecksumSize);
  const uint32_t size = ReadNumber<uint32_t>(covered, 0);
  if (size > kDictionarySizeMax || size > bytes.size() - kHeadersSize) return std::nullopt;
  const std::string_view dictionary = bytes.substr(kHeadersSize, size);
  if (Checksum(covered, dictionary) != ReadNumber<uint64_t>(bytes, kDataHeaderSize)) return {};
  return DataHeader{.dictionary = dictionary, .size = kHeadersSize + size};
}

std::string EncodeBlockHeader(const Block& block) {
  std::string covered;
  AppendNumber(static_cast<uint32_t>(block.payload.size()), &covered);
  AppendNumber(block.raw_size, &covered);
  AppendNumber(block.record_count, &covered);
  AppendNumber(uint32_t{0}, &covered);
  std::string header;
  AppendNumber(Checksum(covered, block.payload), &header);
  return header + covered;
}

size_t StoredSizeOf(std::string_view bytes) {
  if (bytes.size() < kBlockHeaderSize) return 0;
  return kBlockHeaderSize + ReadNumber<uint32_t>(bytes, 8);
}

std::optional<Block> DecodeBlock(std::string_view bytes) {
  if (bytes.size() < kBlockHeaderSize) return std::nullopt;
  const uint32_t payload_size = ReadNumber<uint32_t>(bytes, 8);
  if (payload_size > bytes.size() - kBlockHeaderSize) return std::nullopt;
  Block block;
  block.raw_size = ReadNumber<uint32_t>(bytes, 12);
  block.record_count = ReadNumber<uint32_t>(bytes, 16);
  block.payload = bytes.substr(kBlockHeaderSize, payload_size);
  const std::string_view covered = bytes.substr(kChecksumSize, kBlockHeaderSize - kChecksumSize);
  if (Checksum(covered, block.payload) != ReadNumber<uint64_t>(bytes, 0)) return std::nullopt;
  if (block.raw_size > kBlockRawSizeMax) return std::nullopt;
  return block;
}

void AppendIndexEntry(const IndexEntry& entry, std::string* out) {
  AppendNumber(entry.doc_id, out);
  AppendNumber(entry.block_offset, out);
  AppendNumber(entry.raw_offset, out);
  AppendNumber(entry.raw_size, out);
}

std::string EncodeIndex(std::string_view entries, uint64_t data_size) {
  std::string index(kIndexMagic);
  AppendNumber(kIndexVersion, &index);
  AppendNumber(uint32_t{0}, &index);
  AppendNumber(data_size, &index);
  AppendNumber(static_cast<uint64_t>(entries.size() / kIndexEntrySize), &index);
  AppendNumber(Checksum(index, entries), &index);
  index.append(entries);
  return index;
}

std::optional<IndexView> IndexView::Open(std::string_view bytes) {
  if (bytes.size() < kIndexHeaderSize || bytes.substr(0, 8) != kIndexMagic) return std::nullopt;
  if (ReadNumber<uint32_t>(bytes, 8) != kIndexVersion) return std::nullopt;
  const std::string_view entries = bytes.substr(kIndexHeaderSize);
  const uint64_t entry_count = ReadNumber<uint64_t>(bytes, 24);
  if (entries.size() % kIndexEntrySize != 0) return std::nullopt;
  if (entries.size() / kIndexEntrySize != entry_count) return std::nullopt;
  if (Checksum(bytes.substr(0, 32), entries) != ReadNumber<uint64_t>(bytes, 32))
    return std::nullopt;
  IndexView view;
  view.entries_ = entries;
  view.data_size_ = ReadNumber<uint64_t>(bytes, 16);
  return view;
}

IndexEntry IndexView::Entry(uint64_t position) const {
  const std::string_view bytes = entries_.substr(position * kIndexEntrySize, kIndexEntrySize);
  return {ReadNumber<uint64_t>(bytes, 0), ReadNumber<uint64_t>(bytes, 8),
          ReadNumber<uint32_t>(bytes, 16), ReadNumber<uint32_t>(bytes, 20)};
}

std::optional<IndexEntry> IndexView::Find(uint64_t doc_id) const {
  uint64_t begin = 0;
  uint64_t end = entry_count();
  while (begin < end) {
    const uint64_t middle = begin + (end - begin) / 2;
    const IndexEntry entry = Entry(middle);
    if (entry.doc_id == doc_id) return entry;
    if (entry.doc_id < doc_id) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return std::nullopt;
}

}  // namespace search::docserver::flat_file
