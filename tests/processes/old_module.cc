// A module as one of the first runtime was: this one has to refuse it.

extern "C" __attribute__((visibility("default"))) int neptune_module_interface_version() {
  return 1;
}
// Never called: it would be another class by now.
extern "C" __attribute__((visibility("default"))) void* neptune_module_create() { return nullptr; }
