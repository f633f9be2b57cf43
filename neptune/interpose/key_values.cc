#include "neptune/interpose/key_values.h"

#include <dlfcn.h>
#include <limits.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "neptune/interpose/libc.h"
#include "neptune/thread/thread_specific.h"
#include "neptune/thread/user_thread.h"

namespace neptune::interpose {
namespace {

// Version of a key: odd while its values are per user-level thread. Unique for each use of a
// number.
struct Key {
  std::atomic<uint64_t> version{0};
  std::atomic<KeyDestructor> destructor{nullptr};
};
std::array<Key, PTHREAD_KEYS_MAX> keys;

struct KeyValue {
  uint64_t version = 0;
  void* value = nullptr;
};
using KeyValues = std::vector<KeyValue>;

void EndKeyValues(void* values);
const ThreadSpecificKey& ValuesOfThread() {
  static const ThreadSpecificKey key(&EndKeyValues);
  return key;
}

// The libraries whose keys stay with kernel threads.
constexpr std::string_view kOfKernelThreads[] = {"libabsl_", "librocksdb.", "libasan.",
                                                 "libtsan.", "libubsan.",   "libneptune."};

bool IsOfKernelThreads(const void* caller) {
  Dl_info library;
  if (dladdr(caller, &library) == 0 || library.dli_fname == nullptr) return false;
  const char* const slash = std::strrchr(library.dli_fname, '/');
  const std::string_view name = slash == nullptr ? library.dli_fname : slash + 1;
  for (const std::string_view prefix : kOfKernelThreads) {
    if (name.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

// 0: the C library keeps the key's values.
uint64_t VersionHere(pthread_key_t key) {
  if (key >= keys.size() || UserThread::Current() == nullptr) return 0;
  const uint64_t version = keys[key].version.load(std::memory_order_acquire);
  return version % 2 == 1 ? version : 0;
}

// True if a destructor was called.
bool EndOnce(KeyValues& values) {
  bool called = false;
  for (size_t i = 0; i < values.size(); ++i) {
    const KeyValue ended = values[i];
    values[i].value = nullptr;
    if (ended.value == nullptr || ended.version != keys[i].version.load()) continue;
    const KeyDestructor destructor = keys[i].destructor.load(std::memory_order_acquire);
    if (destructor == nullptr) continue;
    destructor(ended.value);
    called = true;
  }
  return called;
}

void EndKeyValues(void* of_thread) {
  auto* const values = static_cast<KeyValues*>(of_thread);
  ValuesOfThread().Set(values);  // destructors may read values and set new ones
  for (int i = 0; i < PTHREAD_DESTRUCTOR_ITERATIONS && EndOnce(*values); ++i) {
  }
  ValuesOfThread().Set(nullptr);
  delete values;
}

}  // namespace

int CreateKey(pthread_key_t* key, KeyDestructor destructor, const void* caller) {
  const int error = RealLibc().pthread_key_create(key, destructor);
  if (error != 0 || *key >= keys.size() || IsOfKernelThreads(caller)) return error;
  keys[*key].destructor.store(destructor, std::memory_order_release);
  keys[*key].version.fetch_add(1, std::memory_order_acq_rel);
  return 0;
}

int DeleteKey(pthread_key_t key) {
  if (key < keys.size() && keys[key].version.load() % 2 == 1) keys[key].version.fetch_add(1);
  return RealLibc().pthread_key_delete(key);
}

void* GetKeyValue(pthread_key_t key) {
  const uint64_t version = VersionHere(key);
  if (version == 0) return RealLibc().pthread_getspecific(key);
  const auto* const values = static_cast<KeyValues*>(ValuesOfThread().Get());
  if (values == nullptr || key >= values->size()) return nullptr;
  return (*values)[key].version == version ? (*values)[key].value : nullptr;
}

int SetKeyValue(pthread_key_t key, const void* value) {
  const uint64_t version = VersionHere(key);
  if (version == 0) return RealLibc().pthread_setspecific(key, value);
  auto* values = static_cast<KeyValues*>(ValuesOfThread().Get());
  if (values == nullptr) {
    values = new KeyValues;
    ValuesOfThread().Set(values);
  }
  if (key >= values->size()) values->resize(key + 1);
  (*values)[key] = {version, const_cast<void*>(value)};
  return 0;
}

void KeepKeyValuesAfterFork() {
  if (UserThread::Current() == nullptr) return;
  const auto* const values = static_cast<KeyValues*>(ValuesOfThread().Get());
  for (size_t i = 0; values != nullptr && i < values->size(); ++i) {
    if ((*values)[i].version != keys[i].version.load()) continue;
    RealLibc().pthread_setspecific(static_cast<pthread_key_t>(i), (*values)[i].value);
  }
}

}  // namespace neptune::interpose
