// Places that a fuzz target must get to, such as "a decoded message": a target whose inputs all
// fail at its first check tests nothing, and looks like one that finds nothing.
//
//   FuzzPlace decoded("a decoded message");     // at namespace scope
//   ...
//   if (message.ok()) decoded.Reach();
//
// The replay driver fails if the corpus and its mutations do not reach all of them.
//
// Threads: the target's own only.

#pragma once

#include <cstdint>

namespace neptune {

class FuzzPlace {
 public:
  // `name` must outlive the place.
  explicit FuzzPlace(const char* name) : name_(name), next_(first_) { first_ = this; }
  FuzzPlace(const FuzzPlace&) = delete;
  FuzzPlace& operator=(const FuzzPlace&) = delete;

  void Reach() { ++count_; }

  const char* name() const { return name_; }
  uint64_t count() const { return count_; }
  // All places of the program: the last one, and the one before this; null: none.
  static const FuzzPlace* First() { return first_; }
  const FuzzPlace* next() const { return next_; }

 private:
  static inline FuzzPlace* first_ = nullptr;

  const char* const name_;
  FuzzPlace* const next_;
  uint64_t count_ = 0;
};

}  // namespace neptune
