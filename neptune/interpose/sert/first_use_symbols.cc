// Objects created once for the whole process: first-use initialisers, libraries. They belong to no
// request and stay when one is ended.

#include <cxxabi.h>
#include <link.h>
#include <pthread.h>

#include "neptune/interpose/sert/next.h"
#include "neptune/sert/sert.h"

namespace {

class Outside {
 public:
  Outside() { SERT_begin_outside(); }
  ~Outside() { SERT_end_outside(); }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
};

}  // namespace

NEPTUNE_SERT_SYMBOL int pthread_once(pthread_once_t* once, void (*function)()) {
  static neptune::sert::Next<int(pthread_once_t*, void (*)())> next("pthread_once");
  const Outside outside;
  return next(once, function);
}

// A function-local static is constructed between these calls.
NEPTUNE_SERT_SYMBOL int __cxa_guard_acquire(__cxxabiv1::__guard* guard) {
  static constinit neptune::sert::Next<int(__cxxabiv1::__guard*)> next("__cxa_guard_acquire");
  SERT_begin_outside();
  const int mine = next(guard);
  if (mine == 0) SERT_end_outside();
  return mine;
}
NEPTUNE_SERT_SYMBOL void __cxa_guard_release(__cxxabiv1::__guard* guard) noexcept {
  static constinit neptune::sert::Next<void(__cxxabiv1::__guard*)> next("__cxa_guard_release");
  next(guard);
  SERT_end_outside();
}
NEPTUNE_SERT_SYMBOL void __cxa_guard_abort(__cxxabiv1::__guard* guard) noexcept {
  static constinit neptune::sert::Next<void(__cxxabiv1::__guard*)> next("__cxa_guard_abort");
  next(guard);
  SERT_end_outside();
}

NEPTUNE_SERT_SYMBOL void* dlopen(const char* file, int mode) noexcept {
  static neptune::sert::Next<void*(const char*, int)> next("dlopen");
  const Outside outside;
  return next(file, mode);
}
NEPTUNE_SERT_SYMBOL int dlclose(void* library) noexcept {
  static neptune::sert::Next<int(void*)> next("dlclose");
  const Outside outside;
  return next(library);
}
NEPTUNE_SERT_SYMBOL int dl_iterate_phdr(int (*look)(dl_phdr_info*, size_t, void*), void* argument) {
  static neptune::sert::Next<int(int (*)(dl_phdr_info*, size_t, void*), void*)> next(
      "dl_iterate_phdr");
  const Outside outside;
  return next(look, argument);
}
NEPTUNE_SERT_SYMBOL int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                       void* (*start)(void*), void* argument) noexcept {
  static neptune::sert::Next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> next(
      "pthread_create");
  const Outside outside;
  return next(thread, attributes, start, argument);
}
