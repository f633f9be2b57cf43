#include "neptune/interpose/libc.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace neptune::interpose {
namespace {

// Does not use the logging library, which may not be loaded yet and writes through these functions.
void* Resolve(const char* name) {
  void* const function = dlsym(RTLD_NEXT, name);
  if (function == nullptr) {
    std::fprintf(stderr, "the C library has no function '%s'\n", name);
    std::abort();
  }
  return function;
}

Libc ResolveAll() {
  Libc libc;
#define NEPTUNE_LIBC_RESOLVE(name) \
  libc.name = reinterpret_cast<decltype(libc.name)>(Resolve(#name));
  NEPTUNE_LIBC_CALLS(NEPTUNE_LIBC_RESOLVE)
#undef NEPTUNE_LIBC_RESOLVE
  return libc;
}

}  // namespace

const Libc& RealLibc() {
  static const Libc libc = ResolveAll();
  return libc;
}

}  // namespace neptune::interpose
