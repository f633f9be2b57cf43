// The remaining parts of a message after some of its bytes have been transferred.
//
// Threads: a value.

#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace neptune::interpose {

inline size_t SizeOf(const iovec* parts, size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) size += parts[i].iov_len;
  return size;
}

class MessageParts {
 public:
  // REQUIRES: `done` is at most their size.
  MessageParts(const iovec* parts, size_t count, size_t done) : parts_(parts, parts + count) {
    while (first_ < parts_.size() && done >= parts_[first_].iov_len) {
      done -= parts_[first_++].iov_len;
    }
    if (done == 0) return;
    iovec& part = parts_[first_];
    part.iov_base = static_cast<char*>(part.iov_base) + done;
    part.iov_len -= done;
  }
  iovec* data() { return parts_.data() + first_; }
  size_t count() const { return parts_.size() - first_; }

 private:
  std::vector<iovec> parts_;
  size_t first_ = 0;
};

}  // namespace neptune::interpose
