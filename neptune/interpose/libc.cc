#include "neptune/interpose/libc.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace neptune::interpose {
namespace {

// The logging library may not be there yet, and writes through the functions that are sought.
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
