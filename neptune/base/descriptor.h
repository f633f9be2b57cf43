// A file descriptor that is closed on destruction, and pipes of two.
//
// Threads: thread-compatible.
// Errors: MakePipe: kResourceExhausted no descriptors are left.

#pragma once

#include <unistd.h>

#include <utility>

#include "neptune/base/status.h"

namespace neptune {

class Descriptor {
 public:
  // -1: none.
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { Close(); }

  void Close() {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }

 private:
  int number_;
};

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

// Both ends are closed on exec.
StatusOr<Pipe> MakePipe();

}  // namespace neptune
