// Leaks that LeakSanitizer must not report, for every test of --config=asan.
//
// User-level threads of a simulated host that crashes, or that wait when the simulation ends, are
// abandoned with their stacks and are not unwound, so objects on these stacks leak. The system's
// Abseil has no frame pointers, so the stack trace of a leaked status ends there.

extern "C" const char* __lsan_default_suppressions();

extern "C" const char* __lsan_default_suppressions() {
  return "leak:neptune::SimKernel\nleak:neptune::ThreadEntry\nleak:libabsl_status.so\n";
}
