#include "index/core/segment/term_dictionary.h"

#include <algorithm>

#include "index/core/segment/varint.h"

namespace search::index {
namespace {

uint32_t SharedPrefixSize(std::string_view a, std::string_view b) {
  const size_t size_max = std::min(a.size(), b.size());
  size_t size = 0;
  while (size < size_max && a[size] == b[size]) ++size;
  return static_cast<uint32_t>(size);
}

// True if the entry has blocks in the arrays of blocks.
bool HasBlocks(const TermEntry& entry) { return entry.document_frequency > kPostingBlockSize; }

}  // namespace

uint64_t KeyHead(std::string_view key) {
  uint64_t head = 0;
  for (size_t i = 0; i < 8; ++i) {
    head = head << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  return head;
}

neptune::StatusOr<TermDictionary> TermDictionary::FromSections(uint64_t term_count,
                                                               std::span<const uint64_t> heads,
                                                               std::span<const TermBlock> blocks,
                                                               std::string_view bytes) {
  const uint64_t block_count = term_count / kTermBlockSize + (term_count % kTermBlockSize != 0);
  if (heads.size() != block_count || blocks.size() != block_count || term_count > UINT32_MAX) {
    return neptune::DataLoss("term dictionary of ", term_count, " terms has ", heads.size(),
                             " heads and ", blocks.size(), " blocks");
  }
  TermDictionary dictionary;
  dictionary.term_count_ = term_count;
  dictionary.heads_ = heads;
  dictionary.blocks_ = blocks;
  dictionary.bytes_ = bytes;
  return dictionary;
}

// Several blocks may begin with the same eight bytes; the key may be in any of them, or in the
// block before the first.
neptune::StatusOr<uint64_t> TermDictionary::BlockOf(std::string_view key) const {
  const uint64_t head = KeyHead(key);
  const auto first = std::lower_bound(heads_.begin(), heads_.end(), head);
  uint64_t low = static_cast<uint64_t>(first - heads_.begin());
  uint64_t high = low;  // first block that begins after the key's head
  while (high < heads_.size() && heads_[high] == head) ++high;
  if (low > 0) --low;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    TermCursor probe(*this, middle);
    if (!probe.Next()) return probe.status();
    (probe.key() <= key ? low : high) = middle;
  }
  return low;
}

neptune::StatusOr<std::optional<TermEntry>> TermDictionary::Find(std::string_view key) const {
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t block, BlockOf(key));
  return FindInBlock(key, block);
}

neptune::StatusOr<TermCursor> TermDictionary::CursorBefore(std::string_view key) const {
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t block, BlockOf(key));
  return TermCursor(*this, block);
}

// Compares only the bytes that front coding leaves undecided: the first `matched` bytes of the key
// equal those of the previous term, which is smaller.
neptune::StatusOr<std::optional<TermEntry>> TermDictionary::FindInBlock(std::string_view key,
                                                                        uint64_t block) const {
  std::optional<TermEntry> none;
  if (block >= blocks_.size()) return none;
  const auto damaged = [&] { return neptune::DataLoss("term dictionary: damaged block ", block); };
  const TermBlock begin = blocks_[block];  // read once: mapped bytes may change under way
  if (begin.bytes_offset > bytes_.size()) return damaged();
  const char* at = bytes_.data() + begin.bytes_offset;
  const char* const end = bytes_.data() + bytes_.size();
  TermEntry entry{.postings_offset = begin.postings_offset,
                  .positions_offset = begin.positions_offset,
                  .first_block = begin.first_block};
  const uint64_t first = block * kTermBlockSize;
  const uint64_t count = std::min<uint64_t>(kTermBlockSize, term_count_ - first);
  uint64_t matched = 0;
  uint64_t key_size = 0;  // size of the previous key
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t shared = 0;
    uint64_t suffix_size = 0;
    uint64_t frequency = 0;
    if (!GetVarint(&at, end, &shared) || !GetVarint(&at, end, &suffix_size) || shared > key_size ||
        suffix_size > kTermKeySizeMax || suffix_size > static_cast<uint64_t>(end - at)) {
      return damaged();
    }
    const std::string_view suffix(at, suffix_size);
    at += suffix_size;
    if (!GetVarint(&at, end, &frequency) || !GetVarint(&at, end, &entry.postings_size) ||
        !GetVarint(&at, end, &entry.positions_size) || frequency == 0 ||
        frequency > kSegmentDocumentsMax || shared + suffix_size > kTermKeySizeMax ||
        shared + suffix_size == 0) {
      return damaged();
    }
    entry.document_frequency = static_cast<uint32_t>(frequency);
    entry.ordinal = static_cast<uint32_t>(first + i);
    if (shared < matched) return none;  // differs from the previous term within the matched bytes
    if (shared == matched) {
      const std::string_view rest = key.substr(matched);
      const uint32_t more = SharedPrefixSize(rest, suffix);
      matched += more;
      if (more == rest.size()) {
        if (more == suffix.size()) return std::optional<TermEntry>(entry);
        return none;
      }
      if (more < suffix.size() &&
          static_cast<uint8_t>(suffix[more]) > static_cast<uint8_t>(rest[more])) {
        return none;
      }
    }
    key_size = shared + suffix_size;
    entry.postings_offset += entry.postings_size;
    entry.positions_offset += entry.positions_size;
    if (HasBlocks(entry)) entry.first_block += entry.block_count();
  }
  return none;
}

TermCursor::TermCursor(const TermDictionary& dictionary, uint64_t block)
    : dictionary_(&dictionary), next_ordinal_(block * kTermBlockSize) {}

bool TermCursor::Fail(std::string_view what) {
  status_ = neptune::DataLoss("term dictionary: ", what, " at term ", next_ordinal_);
  return false;
}

bool TermCursor::EnterBlock() {
  const TermBlock block = dictionary_->blocks_[next_ordinal_ / kTermBlockSize];  // read once
  if (block.bytes_offset > dictionary_->bytes_.size()) return Fail("block outside of the section");
  at_ = dictionary_->bytes_.data() + block.bytes_offset;
  end_ = dictionary_->bytes_.data() + dictionary_->bytes_.size();
  key_.clear();
  entry_ = {};
  entry_.postings_offset = block.postings_offset;
  entry_.positions_offset = block.positions_offset;
  entry_.first_block = block.first_block;
  return true;
}

bool TermCursor::Next() {
  if (next_ordinal_ >= dictionary_->term_count_ || !status_.ok()) return false;
  if (next_ordinal_ % kTermBlockSize == 0) {
    if (!EnterBlock()) return false;
  } else {
    entry_.postings_offset += entry_.postings_size;
    entry_.positions_offset += entry_.positions_size;
    if (HasBlocks(entry_)) entry_.first_block += entry_.block_count();
  }
  uint64_t shared = 0;
  uint64_t suffix_size = 0;
  if (!GetVarint(&at_, end_, &shared) || !GetVarint(&at_, end_, &suffix_size) ||
      shared > key_.size() || suffix_size > kTermKeySizeMax ||
      suffix_size > static_cast<uint64_t>(end_ - at_)) {
    return Fail("a damaged key");
  }
  key_.resize(shared);
  key_.append(at_, suffix_size);
  at_ += suffix_size;
  uint64_t frequency = 0;
  if (!GetVarint(&at_, end_, &frequency) || !GetVarint(&at_, end_, &entry_.postings_size) ||
      !GetVarint(&at_, end_, &entry_.positions_size) || frequency == 0 ||
      frequency > kSegmentDocumentsMax || key_.size() > kTermKeySizeMax || key_.empty()) {
    return Fail("a damaged entry");
  }
  entry_.document_frequency = static_cast<uint32_t>(frequency);
  entry_.ordinal = static_cast<uint32_t>(next_ordinal_++);
  return true;
}

void TermDictionaryBuilder::Add(std::string_view key, const TermEntry& entry) {
  uint32_t shared = 0;
  if (term_count_ % kTermBlockSize == 0) {
    heads_.push_back(KeyHead(key));
    blocks_.push_back({.bytes_offset = bytes_.size(),
                       .postings_offset = entry.postings_offset,
                       .positions_offset = entry.positions_offset,
                       .first_block = entry.first_block});
  } else {
    shared = SharedPrefixSize(last_key_, key);
  }
  PutVarint(shared, &bytes_);
  PutVarint(key.size() - shared, &bytes_);
  bytes_.append(key.substr(shared));
  PutVarint(entry.document_frequency, &bytes_);
  PutVarint(entry.postings_size, &bytes_);
  PutVarint(entry.positions_size, &bytes_);
  last_key_.assign(key);
  ++term_count_;
}

}  // namespace search::index
