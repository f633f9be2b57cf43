// Overwrites secrets in memory before it is freed, so that neither a later allocation nor a core
// file shows them.
//
// Covers what the program itself holds; OpenSSL wipes its own copies.
// Threads: pure function; WipeAtEnd is thread-compatible.

#pragma once

#include <string.h>

#include <string>

namespace neptune {

// Overwrites the whole buffer of the text, and empties it. The compiler does not remove the writes.
inline void Wipe(std::string* secret) {
  secret->resize(secret->capacity());
  explicit_bzero(secret->data(), secret->size());
  secret->clear();
}

// Wipes a text at the end of the scope. `secret` must outlive it.
class WipeAtEnd {
 public:
  explicit WipeAtEnd(std::string* secret) : secret_(secret) {}
  ~WipeAtEnd() { Wipe(secret_); }
  WipeAtEnd(const WipeAtEnd&) = delete;
  WipeAtEnd& operator=(const WipeAtEnd&) = delete;

 private:
  std::string* const secret_;
};

}  // namespace neptune
