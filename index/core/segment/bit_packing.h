// Arrays of up to 128 numbers, each in the same number of bits.
//
// Source: Lemire and Boytsov 2015 (SIMD-BP128): full arrays are packed across four lanes of 32
//   bits, so that one vector instruction unpacks four numbers. Shorter arrays are packed in one
//   row.
// Threads: pure functions.
// Limits: 0 <= bits <= 32, 0 <= count <= 128. Reads and writes exactly PackedSize bytes.
//
// Written with the compilers' vector types: portable, no instruction set named.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace search::index {

inline constexpr uint32_t kPackedCountMax = 128;

// Bits that the largest of the numbers needs.
uint32_t BitWidthOf(const uint32_t* values, uint32_t count);

// Bytes of `count` numbers of `bits` bits.
inline size_t PackedSize(uint32_t count, uint32_t bits) { return (size_t{count} * bits + 7) / 8; }

// REQUIRES: no value needs more than `bits` bits.
void Pack(const uint32_t* values, uint32_t count, uint32_t bits, std::string* out);

// REQUIRES: `in` holds PackedSize(count, bits) bytes, `values` has room for 128.
void Unpack(const char* in, uint32_t count, uint32_t bits, uint32_t* values);

// values[j] becomes number first + j of them, for `wanted` numbers.
// REQUIRES: first + wanted <= count.
void UnpackSome(const char* in, uint32_t count, uint32_t bits, uint32_t first, uint32_t wanted,
                uint32_t* values);

// values[i] becomes first + i + the sum of values[0..i], modulo 2^32: gaps to ascending numbers.
void GapsToOrdinals(uint32_t first, uint32_t count, uint32_t* values);

}  // namespace search::index
