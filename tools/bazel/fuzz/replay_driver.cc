// Runs a fuzz target over files and over seeded mutations of them, so that every fuzz target is a
// plain test where libFuzzer is absent. Same entry point as libFuzzer.
//
// Usage: TARGET FILE_OR_FOLDER...   (environment: FUZZ_SEED, FUZZ_MUTATIONS for each input)
// Limits: inputs of at most 1 MiB; default 400 mutations of each input.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

constexpr size_t kInputSizeMax = size_t{1} << 20;

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

std::string Mutate(std::string bytes, const std::vector<std::string>& inputs,
                   std::mt19937_64& rng) {
  const int edits = 1 + static_cast<int>(rng() % 4);
  for (int i = 0; i < edits; ++i) {
    const size_t at = bytes.empty() ? 0 : rng() % bytes.size();
    switch (rng() % 6) {
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
  std::mt19937_64 rng(seed);
  for (const std::string& input : inputs) {
    Run(input);
    for (uint64_t i = 0; i < mutations; ++i) Run(Mutate(input, inputs, rng));
  }
  return 0;
}
