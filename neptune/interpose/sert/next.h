// The next function of the same name in symbol lookup order: the C library's, or that of another
// library that interposes it.
//
// Threads: any.

#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "neptune/sert/request_record.h"

namespace neptune::sert {

// Resolved at the first call; aborts if there is no such function.
template <typename Function>
class Next {
 public:
  constexpr explicit Next(const char* name) : name_(name) {}

  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    return Get()(arguments...);
  }

 private:
  Function* Get() {
    Function* function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      if (function == nullptr) std::abort();
      function_.store(function, std::memory_order_relaxed);
    }
    return function;
  }

  const char* const name_;
  std::atomic<Function*> function_{nullptr};
};

#define NEPTUNE_SERT_SYMBOL extern "C" __attribute__((visibility("default")))

}  // namespace neptune::sert
