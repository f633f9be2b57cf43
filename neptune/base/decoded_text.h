// The text of a gzip or zstd body, for tests: by the libraries' own decoders.
//
// Threads: pure functions.
// Errors: a body that is not whole fails the test that asks.
// Limits: kDecodedSizeMax bytes of text.

#pragma once

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <string>

namespace neptune {

inline constexpr size_t kDecodedSizeMax = 4 << 20;

inline std::string DecodedGzip(const std::string& body) {
  constexpr int kGzipWindow = 15 + 16;
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, kGzipWindow), Z_OK);
  std::string out(kDecodedSizeMax, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

inline std::string DecodedZstd(const std::string& body) {
  std::string out(kDecodedSizeMax, '\0');
  const size_t size = ZSTD_decompress(out.data(), out.size(), body.data(), body.size());
  EXPECT_FALSE(ZSTD_isError(size));
  out.resize(ZSTD_isError(size) ? 0 : size);
  return out;
}

}  // namespace neptune
