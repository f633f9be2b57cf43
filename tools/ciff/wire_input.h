// Reads the elements of encoded messages from a stream, and tracks its position.
//
// The encoding is that of Protocol Buffers (varints of seven bits, lowest first).
// Reads from a ByteSource.
// Threads: thread-compatible.
// Units: positions are bytes of unpacked data.
// Errors: DATA_LOSS "byte N: ..." for impossible bytes, and those of the source. After the first
//   one every call returns false and status() keeps it.
// Limits: memory is one buffer of 64 KiB, and the bytes requested from ReadBytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/streams/byte_source.h"

namespace search::tools {

class WireInput {
 public:
  // REQUIRES: `source` outlives it.
  explicit WireInput(ByteSource* source);

  // At most ten bytes; bits over 64 are damage.
  bool ReadVarint(uint64_t* value);
  // Replaces *out by the next `size` bytes; allocates in proportion to the bytes that are
  // available.
  bool ReadBytes(size_t size, std::string* out);
  bool Skip(uint64_t size);
  // Skips the value of an unknown field, after its tag.
  bool SkipField(uint64_t tag);

  // True at the end of the input; false also after an error.
  bool AtEnd();

  uint64_t position() const { return base_ + at_; }
  const neptune::Status& status() const { return status_; }

  // Ends reading, unless it has ended already. Returns false.
  template <typename... Args>
  bool Fail(const Args&... args) {
    if (status_.ok()) status_ = neptune::DataLoss("byte ", position(), ": ", args...);
    return false;
  }

 private:
  // Makes at least one byte available; false at the end and after an error.
  bool Fill();

  ByteSource* const source_;
  std::vector<char> buffer_;
  size_t at_ = 0;
  size_t end_ = 0;
  uint64_t base_ = 0;  // position of the buffer's first byte
  neptune::Status status_;
};

}  // namespace search::tools
