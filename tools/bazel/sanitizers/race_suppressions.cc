// Races that ThreadSanitizer must not report, for every test of --config=tsan.
//
// The system's Abseil is built without ThreadSanitizer. Its detection of deadlocks, which is on
// until a real world is made, guards a table with a spin lock that ThreadSanitizer cannot see.

extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
  return "race:synchronization_internal::GraphCycles\n";
}
