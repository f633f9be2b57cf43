// The runtime's kernel threads are started through the C++ library, which may be the program's and
// would then call the interposed pthread_create. The linker redirects the core's starts here
// (--wrap).

#include <memory>
#include <thread>

#include "neptune/interpose/pthread/process.h"

#define NEPTUNE_START_THREAD \
  _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE
#define NEPTUNE_CONCAT_INNER(a, b) a##b
#define NEPTUNE_CONCAT(a, b) NEPTUNE_CONCAT_INNER(a, b)

// Arguments of the C++ library: the thread, the address of its state, and a function not used here.
extern "C" void NEPTUNE_CONCAT(__real_, NEPTUNE_START_THREAD)(std::thread*, void*, void (*)());

extern "C" void NEPTUNE_CONCAT(__wrap_, NEPTUNE_START_THREAD)(std::thread* thread, void* state,
                                                              void (*depend)()) {
  const neptune::interpose::RuntimeThreadsScope threads_are_the_runtimes;
  NEPTUNE_CONCAT(__real_, NEPTUNE_START_THREAD)(thread, state, depend);
}
