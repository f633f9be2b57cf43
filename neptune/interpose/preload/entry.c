// The library named in LD_PRELOAD: it forwards the program's calls (trampolines.S) to the core,
// which it loads when the program starts.
//
// It is written in C and depends on libc only, because all of its symbols are visible to the
// program. Calls that other libraries make before the core is loaded go to libc.

#define _GNU_SOURCE

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/preload/exit_status.h"

#define NEPTUNE_PRELOAD_NAME(name) #name,
static const char* const names[] = {NEPTUNE_PRELOAD_CALLS(NEPTUNE_PRELOAD_NAME)};

enum { kCallCount = sizeof(names) / sizeof(names[0]), kPathSizeMax = 4096 };

static const char kCoreName[] = "libneptune_preload_core.so";

// Target of each call; null: not resolved yet.
__attribute__((visibility("hidden"))) void* preload_targets[kCallCount];

// Resolves libc's function, for calls before the core is loaded.
__attribute__((visibility("hidden"))) void* preload_find(int index) {
  void* const function = dlsym(RTLD_NEXT, names[index]);
  if (function == NULL) {
    fprintf(stderr, "neptune: libc has no function '%s'\n", names[index]);
    _exit(kPreloadFailed);
  }
  preload_targets[index] = function;
  return function;
}

static void refuse(const char* reason) {
  fprintf(
      stderr,
      "neptune: %s\nneptune: the program was not started, because it would not be isolated; unset "
      "LD_PRELOAD to run it without isolation\n",
      reason);
  _exit(kPreloadFailed);
}

// Finds the core in this library's folder.
static void find_core(char* path) {
  Dl_info here;
  if (dladdr((void*)&preload_find, &here) == 0 || here.dli_fname == NULL)
    refuse("its own file is unknown");
  const char* const slash = strrchr(here.dli_fname, '/');
  const size_t folder_size = slash == NULL ? 0 : (size_t)(slash - here.dli_fname) + 1;
  if (folder_size + sizeof(kCoreName) > kPathSizeMax) refuse("its folder's name is too long");
  memcpy(path, here.dli_fname, folder_size);
  memcpy(path + folder_size, kCoreName, sizeof(kCoreName));
}

static void* find_in(void* core, const char* prefix, const char* name) {
  char symbol[64];
  snprintf(symbol, sizeof(symbol), "%s%s", prefix, name);
  return dlsym(core, symbol);
}

__attribute__((constructor)) static void load_core(void) {
  char path[kPathSizeMax];
  find_core(path);
  // RTLD_LOCAL hides the core from the program; RTLD_DEEPBIND binds the core to libc's functions.
  void* const core = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (core == NULL) refuse(dlerror());

  for (int i = 0; i < kCallCount; ++i) {
    void* function = find_in(core, "neptune_symbol_", names[i]);
    if (function == NULL) function = find_in(core, "neptune_", names[i]);
    if (function == NULL) refuse("the core has another version");
    preload_targets[i] = function;
  }

  int (*const start)(void) = (int (*)(void))dlsym(core, "neptune_preload_start");
  if (start == NULL) refuse("the core has another version");
  if (start() != 0) refuse("the capsules could not be set up");
}
