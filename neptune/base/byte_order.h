// Big-endian numbers and length-prefixed strings in byte strings, with every read checked.
//
// Source: [Shen02] 2.4 (messages are portable between nodes).
// Threads: thread-compatible.
// Errors: a reader that runs past the end, or meets a count over its bound, fails and stays failed:
//   all later reads return zero or empty, so a decoder checks only once, at its end.

#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace neptune {

template <std::unsigned_integral T>
constexpr T ToBigEndian(T value) {
  if constexpr (sizeof(T) == 1 || std::endian::native == std::endian::big) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

// Reads a number at `bytes`, which holds at least sizeof(T) bytes.
template <std::unsigned_integral T>
T LoadBigEndian(const void* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return ToBigEndian(value);
}

// Writes a number at `bytes`, which has room for sizeof(T) bytes; returns the address after it.
template <std::unsigned_integral T>
char* StoreBigEndian(T value, char* bytes) {
  const T big = ToBigEndian(value);
  std::memcpy(bytes, &big, sizeof(T));
  return bytes + sizeof(T);
}

// Appends to a string it does not own.
class ByteWriter {
 public:
  explicit ByteWriter(std::string* out) : out_(out) {}

  template <std::unsigned_integral T>
  void Number(T value) {
    const T big = ToBigEndian(value);
    out_->append(reinterpret_cast<const char*>(&big), sizeof(T));
  }
  void Bytes(std::string_view bytes) { out_->append(bytes); }
  // Appends the size as a `Count`, then the bytes, truncated to the largest size a Count can
  // express.
  template <std::unsigned_integral Count>
  void Counted(std::string_view bytes) {
    const size_t size_max = static_cast<Count>(~Count{0});
    if (bytes.size() > size_max) bytes = bytes.substr(0, size_max);
    Number(static_cast<Count>(bytes.size()));
    Bytes(bytes);
  }

 private:
  std::string* const out_;
};

// Reads from `bytes`, which must outlive the reader.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <std::unsigned_integral T>
  T Number() {
    if (rest_.size() < sizeof(T)) return Fail<T>();
    const T value = LoadBigEndian<T>(rest_.data());
    rest_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view Bytes(size_t size) {
    if (rest_.size() < size) return Fail<std::string_view>();
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  template <std::unsigned_integral Count>
  std::string_view Counted() {
    return Bytes(Number<Count>());
  }

  size_t remaining() const { return rest_.size(); }
  bool failed() const { return failed_; }
  // True if everything was read and nothing was missing.
  bool finished() const { return !failed_ && rest_.empty(); }

 private:
  template <typename T>
  T Fail() {
    failed_ = true;
    rest_ = {};
    return T{};
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace neptune
