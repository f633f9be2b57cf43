// Writes the small files that the fuzz target starts from: write_sample_suggestions DICTIONARY
// SUGGESTIONS COUNTS

#include <cstdio>
#include <filesystem>

#include "index/suggest/phrase_counter.h"
#include "index/suggest/suggestion_writer.h"

namespace {

int Run(const std::filesystem::path& dictionary, const std::filesystem::path& suggestions,
        const std::filesystem::path& counts) {
  using namespace search::index;
  const std::filesystem::path folder = suggestions.string() + ".parts";
  std::filesystem::create_directories(folder);
  PhraseCounter counter;
  for (uint64_t i = 1; i <= 12; ++i) {
    counter.Add({.doc_id = i,
                 .title = i % 3 == 0 ? "Hash Table Iterator" : "São Paulo",
                 .body = "open addressing of a hash table; linear probing is a table walk",
                 .extra_text = "",
                 .site = "",
                 .static_rank = 0.5F});
  }
  if (!counter.Finish(folder.string()).ok() || !FinishSuggestions({folder.string()}).ok()) return 1;
  const auto overwrite = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(folder / "spelling", dictionary, overwrite);
  std::filesystem::copy_file(folder / "suggest", suggestions, overwrite);
  std::filesystem::copy_file(folder / "suggest.counts", counts, overwrite);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: write_sample_suggestions DICTIONARY SUGGESTIONS COUNTS\n");
    return 2;
  }
  return Run(argv[1], argv[2], argv[3]);
}
