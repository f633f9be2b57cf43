#include "index/core/segment/bit_packing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace search::index {
namespace {

typedef uint32_t Lanes __attribute__((vector_size(16)));

constexpr uint32_t kLaneCount = 4;
constexpr uint32_t kLaneSize = kPackedCountMax / kLaneCount;  // numbers in a lane

inline Lanes Load(const void* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

inline void Store(Lanes lanes, void* to) { std::memcpy(to, &lanes, sizeof(lanes)); }

constexpr uint32_t MaskOf(uint32_t bits) { return bits == 32 ? ~0U : (1U << bits) - 1; }

template <uint32_t kBits>
void UnpackLanes(const char* in, uint32_t* values) {
  if constexpr (kBits == 0) {
    std::memset(values, 0, kPackedCountMax * sizeof(uint32_t));
  } else if constexpr (kBits == 32) {
    std::memcpy(values, in, kPackedCountMax * sizeof(uint32_t));
  } else {
    constexpr uint32_t kMask = MaskOf(kBits);
    Lanes word = Load(in);
    uint32_t shift = 0;
#pragma GCC unroll 32
    for (uint32_t i = 0; i < kLaneSize; ++i) {
      Lanes value = word >> shift;
      shift += kBits;
      if (shift >= 32 && i + 1 < kLaneSize) {
        shift -= 32;
        in += sizeof(Lanes);
        word = Load(in);
        if (shift > 0) value |= word << (kBits - shift);
      }
      Store(value & kMask, values + kLaneCount * i);
    }
  }
}

using UnpackFunction = void (*)(const char*, uint32_t*);

template <uint32_t... kBits>
constexpr std::array<UnpackFunction, sizeof...(kBits)> MakeUnpackTable(
    std::integer_sequence<uint32_t, kBits...>) {
  return {UnpackLanes<kBits>...};
}

constexpr auto kUnpackTable = MakeUnpackTable(std::make_integer_sequence<uint32_t, 33>());

void PackLanes(const uint32_t* values, uint32_t bits, char* out) {
  std::array<uint32_t, kPackedCountMax> words = {};
  for (uint32_t i = 0; i < kPackedCountMax; ++i) {
    const uint32_t lane = i % kLaneCount;
    const uint32_t bit = (i / kLaneCount) * bits;
    const uint64_t shifted = uint64_t{values[i]} << (bit % 32);
    words[(bit / 32) * kLaneCount + lane] |= static_cast<uint32_t>(shifted);
    if (bit % 32 + bits > 32) {
      words[(bit / 32 + 1) * kLaneCount + lane] |= static_cast<uint32_t>(shifted >> 32);
    }
  }
  std::memcpy(out, words.data(), PackedSize(kPackedCountMax, bits));
}

// A row is read and written in eight-byte words, so its copy needs eight spare bytes.
using Row = std::array<char, kPackedCountMax * sizeof(uint32_t) + sizeof(uint64_t)>;

void PackRow(const uint32_t* values, uint32_t count, uint32_t bits, char* out) {
  Row row = {};
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t bit = i * bits;
    uint64_t word;
    std::memcpy(&word, &row[bit / 8], sizeof(word));
    word |= uint64_t{values[i]} << (bit % 8);
    std::memcpy(&row[bit / 8], &word, sizeof(word));
  }
  std::memcpy(out, row.data(), PackedSize(count, bits));
}

void UnpackRow(const char* in, uint32_t count, uint32_t bits, uint32_t* values) {
  if (bits == 0) {
    std::fill(values, values + count, 0);
    return;
  }
  Row row;
  const size_t size = PackedSize(count, bits);
  std::memcpy(row.data(), in, size);
  std::memset(row.data() + size, 0, sizeof(uint64_t));
  const uint32_t mask = MaskOf(bits);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t bit = i * bits;
    uint64_t word;
    std::memcpy(&word, &row[bit / 8], sizeof(word));
    values[i] = static_cast<uint32_t>(word >> (bit % 8)) & mask;
  }
}

}  // namespace

uint32_t BitWidthOf(const uint32_t* values, uint32_t count) {
  uint32_t all = 0;
  for (uint32_t i = 0; i < count; ++i) all |= values[i];
  return static_cast<uint32_t>(std::bit_width(all));
}

void Pack(const uint32_t* values, uint32_t count, uint32_t bits, std::string* out) {
  const size_t at = out->size();
  out->resize(at + PackedSize(count, bits));
  if (count == kPackedCountMax) {
    PackLanes(values, bits, out->data() + at);
  } else {
    PackRow(values, count, bits, out->data() + at);
  }
}

void Unpack(const char* in, uint32_t count, uint32_t bits, uint32_t* values) {
  if (count == kPackedCountMax) {
    kUnpackTable[bits](in, values);
  } else {
    UnpackRow(in, count, bits, values);
  }
}

void UnpackSome(const char* in, uint32_t count, uint32_t bits, uint32_t first, uint32_t wanted,
                uint32_t* values) {
  if (bits == 0) {
    std::fill_n(values, wanted, 0);
    return;
  }
  const uint32_t mask = MaskOf(bits);
  if (count == kPackedCountMax) {
    for (uint32_t i = first; i < first + wanted; ++i) {
      const uint32_t bit = i / kLaneCount * bits;
      const char* at = in + (bit / 32 * kLaneCount + i % kLaneCount) * sizeof(uint32_t);
      uint32_t low;
      uint32_t high = 0;
      std::memcpy(&low, at, sizeof(low));
      if (bit % 32 + bits > 32) std::memcpy(&high, at + sizeof(Lanes), sizeof(high));
      *values++ = static_cast<uint32_t>((uint64_t{high} << 32 | low) >> (bit % 32)) & mask;
    }
    return;
  }
  const size_t size = PackedSize(count, bits);
  for (uint32_t i = first; i < first + wanted; ++i) {
    const uint32_t bit = i * bits;
    uint64_t word = 0;
    std::memcpy(&word, in + bit / 8, std::min(sizeof(word), size - bit / 8));
    *values++ = static_cast<uint32_t>(word >> (bit % 8)) & mask;
  }
}

void GapsToOrdinals(uint32_t first, uint32_t count, uint32_t* values) {
  constexpr Lanes kZero = {0, 0, 0, 0};
  constexpr Lanes kIndex = {0, 1, 2, 3};
  uint32_t i = 0;
  Lanes base = kIndex + first;
  for (; i + kLaneCount <= count; i += kLaneCount) {
    Lanes sum = Load(values + i);
    sum += __builtin_shufflevector(kZero, sum, 0, 4, 5, 6);
    sum += __builtin_shufflevector(kZero, sum, 0, 1, 4, 5);
    Store(sum + base, values + i);
    base += __builtin_shufflevector(sum, sum, 3, 3, 3, 3) + kLaneCount;
  }
  uint32_t next = base[0];
  for (; i < count; ++i) {
    next += values[i];
    values[i] = next++;
  }
}

}  // namespace search::index
