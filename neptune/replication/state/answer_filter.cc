#include "neptune/replication/state/answer_filter.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"

namespace neptune {
namespace {

constexpr Lsn kGenerationCount = 16;
constexpr size_t kBitsPerId = 16;
constexpr size_t kWordsPerBlock = 8;  // a cache line
constexpr size_t kBitsPerWord = 64;
constexpr int kBitsSetPerId = 6;

// The words of one block, and the bits of them that belong to an id.
struct Place {
  size_t block = 0;
  std::array<uint64_t, kWordsPerBlock> masks{};
};

Place PlaceOf(const RequestId& id, size_t block_count) {
  constexpr int kBitsOfPlace = 9;  // of the 512 of a block
  std::array<char, 2 * sizeof(uint64_t)> bytes{};
  StoreBigEndian(id.number, StoreBigEndian(id.client, bytes.data()));
  const uint64_t hash = Checksum64({bytes.data(), bytes.size()});
  Place place;
  place.block = static_cast<size_t>(hash % block_count);
  uint64_t rest = hash * 0x9E3779B97F4A7C15ULL;  // 2^64 / golden ratio
  for (int i = 0; i < kBitsSetPerId; ++i) {
    const uint64_t bit = rest & ((1ULL << kBitsOfPlace) - 1);
    place.masks[bit / kBitsPerWord] |= 1ULL << (bit % kBitsPerWord);
    rest >>= kBitsOfPlace;
  }
  return place;
}

}  // namespace

AnswerFilter::AnswerFilter(Lsn kept)
    : kept_(kept), count_max_(static_cast<size_t>(std::max<Lsn>(1, kept / kGenerationCount))) {}

void AnswerFilter::Begin(Lsn lsn) {
  generations_.clear();
  unknown_ = lsn;
}

void AnswerFilter::Add(Lsn lsn, const RequestId& id) {
  if (generations_.empty() || generations_.back().count == count_max_) {
    while (!generations_.empty() && generations_.front().last + kept_ <= lsn) {
      generations_.pop_front();
    }
    const size_t blocks = count_max_ * kBitsPerId / (kWordsPerBlock * kBitsPerWord) + 1;
    generations_.push_back({.bits = std::vector<uint64_t>(blocks * kWordsPerBlock)});
  }
  Generation& newest = generations_.back();
  newest.last = lsn;
  ++newest.count;
  const Place place = PlaceOf(id, newest.bits.size() / kWordsPerBlock);
  for (size_t i = 0; i < kWordsPerBlock; ++i) {
    newest.bits[place.block * kWordsPerBlock + i] |= place.masks[i];
  }
}

bool AnswerFilter::MayHave(Lsn lsn, const RequestId& id) const {
  const bool has_unknown = unknown_ > 0 && (unknown_ >= lsn || lsn - unknown_ < kept_);
  if (has_unknown) return true;
  if (generations_.empty()) return false;
  // All generations have the same size.
  const Place place = PlaceOf(id, generations_.front().bits.size() / kWordsPerBlock);
  const auto has = [&](const Generation& generation) {
    if (generation.last + kept_ <= lsn) return false;
    const uint64_t* const block = &generation.bits[place.block * kWordsPerBlock];
    for (size_t i = 0; i < kWordsPerBlock; ++i) {
      if ((block[i] & place.masks[i]) != place.masks[i]) return false;
    }
    return true;
  };
  return std::any_of(generations_.begin(), generations_.end(), has);
}

}  // namespace neptune
