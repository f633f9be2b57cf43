// Runs a fuzz target over files and over seeded mutations of them, so that every fuzz target is a
// plain test where libFuzzer is absent. Same entry point as libFuzzer. Fails if a place of the
// target (place.h) is not reached. The target runs on a stack of the size of a user-level thread's.
//
// Usage: TARGET FILE_OR_FOLDER...   (environment: FUZZ_SEED, FUZZ_MUTATIONS for each input,
//   FUZZ_STACK_KIB)
// Limits: inputs of at most 1 MiB; default 400 mutations of each input.

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tools/bazel/fuzz/place.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

constexpr size_t kInputSizeMax = size_t{1} << 20;
// That of a node's user-level threads (neptune/node). The sanitizers make frames larger.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kStackKib = 2048;
#else
constexpr uint64_t kStackKib = 512;
#endif

std::vector<std::string> ReadInputs(int argc, char** argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (fs::is_directory(argv[i])) {
      for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    } else {
      files.emplace_back(argv[i]);
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs = {""};
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (bytes.size() <= kInputSizeMax) inputs.push_back(std::move(bytes));
  }
  return inputs;
}

uint64_t EnvironmentNumber(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

// Writes a number at which sums wrap and signs change, in either order of bytes.
void OverwriteNumber(std::string* bytes, size_t at, std::mt19937_64& rng) {
  constexpr std::array<uint64_t, 8> kNumbers = {
      0, 1, 0x7fffffff, 0xffffffff, uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{0} - 1, 0x80};
  const uint64_t number = kNumbers[rng() % kNumbers.size()];
  const size_t size = size_t{1} << (rng() % 4);
  const bool is_big_endian = rng() % 2 == 0;
  for (size_t i = 0; i < size && at + i < bytes->size(); ++i) {
    const size_t byte = is_big_endian ? size - 1 - i : i;
    (*bytes)[at + i] = static_cast<char>(number >> (8 * byte));
  }
}

std::string Mutate(std::string bytes, const std::vector<std::string>& inputs,
                   std::mt19937_64& rng) {
  const int edits = 1 + static_cast<int>(rng() % 4);
  for (int i = 0; i < edits; ++i) {
    const size_t at = bytes.empty() ? 0 : rng() % bytes.size();
    switch (rng() % 7) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << (rng() % 8)));
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<char>(rng());
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, 1 + rng() % 8, static_cast<char>(rng()));
        break;
      case 4:
        bytes.erase(at, 1 + rng() % 16);
        break;
      case 5:
        OverwriteNumber(&bytes, at, rng);
        break;
      default: {
        const std::string& other = inputs[rng() % inputs.size()];
        if (!other.empty()) {
          const size_t from = rng() % other.size();
          bytes.insert(at, other, from, 1 + rng() % 64);
        }
      }
    }
  }
  if (bytes.size() > kInputSizeMax) bytes.resize(kInputSizeMax);
  return bytes;
}

void Run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

void RunAll(const std::vector<std::string>& inputs, uint64_t seed, uint64_t mutations) {
  std::mt19937_64 rng(seed);
  for (const std::string& input : inputs) {
    Run(input);
    for (uint64_t i = 0; i < mutations; ++i) Run(Mutate(input, inputs, rng));
  }
}

// Runs the function on a stack of this size, which ends at a guard page. False: there is no thread.
bool RunOnStack(size_t size, std::function<void()> function) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread;
  const bool runs = pthread_attr_setstacksize(&attributes, size) == 0 &&
                    pthread_create(
                        &thread, &attributes,
                        [](void* run) -> void* {
                          (*static_cast<std::function<void()>*>(run))();
                          return nullptr;
                        },
                        &function) == 0;
  pthread_attr_destroy(&attributes);
  return runs && pthread_join(thread, nullptr) == 0;
}

// Returns the number of places that no input has reached.
int CountMissed() {
  int missed = 0;
  for (const neptune::FuzzPlace* place = neptune::FuzzPlace::First(); place != nullptr;
       place = place->next()) {
    std::fprintf(stderr, "fuzz replay: %llu times %s\n",
                 static_cast<unsigned long long>(place->count()), place->name());
    if (place->count() == 0) ++missed;
  }
  return missed;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t seed = EnvironmentNumber("FUZZ_SEED", 20021115);
  const uint64_t mutations = EnvironmentNumber("FUZZ_MUTATIONS", 400);
  const std::vector<std::string> inputs = ReadInputs(argc, argv);
  std::fprintf(stderr, "fuzz replay: %zu inputs, %llu mutations each, seed %llu\n", inputs.size(),
               static_cast<unsigned long long>(mutations), static_cast<unsigned long long>(seed));
  if (inputs.size() < 2) {
    std::fprintf(stderr, "fuzz replay: no corpus files given\n");
    return 1;
  }
  const size_t stack_size = EnvironmentNumber("FUZZ_STACK_KIB", kStackKib) << 10;
  if (!RunOnStack(stack_size, [&] { RunAll(inputs, seed, mutations); })) {
    std::fprintf(stderr, "fuzz replay: no thread with a stack of %zu bytes\n", stack_size);
    return 1;
  }
  if (CountMissed() == 0) return 0;
  std::fprintf(stderr, "fuzz replay: the target does not get to all of its places\n");
  return 1;
}
