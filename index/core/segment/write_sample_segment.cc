// Writes the small segment that the fuzz target starts from: write_sample_segment FILE [reorder]

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "index/core/builder/index_builder.h"

namespace {

constexpr char kText[] =
    "A segment holds the documents of one partition of one tier: their numbers, lengths and ranks, "
    "a dictionary of the words, and for each word the documents that hold it, with positions.";

int Run(const std::filesystem::path& file, bool reorder) {
  using search::index::IndexBuilder;
  const std::filesystem::path folder = file.string() + ".parts";
  auto builder = IndexBuilder::Create({.directory = folder.string(), .reorder = reorder});
  if (!builder.ok()) return 1;
  for (uint64_t i = 1; i <= 300; ++i) {
    const std::string number = "n" + std::to_string(i % 40);
    const std::string body = i % 50 == 0 ? std::string(kText) : "the segment " + number;
    if (!(*builder)
             ->Add({.doc_id = i,
                    .title = number,
                    .body = body,
                    .extra_text = i % 7 == 0 ? "words of others" : "",
                    .site = "docs.example.org",
                    .static_rank = 0.5F})
             .ok()) {
      return 1;
    }
  }
  if (!(*builder)->Finish().ok()) return 1;
  std::filesystem::copy_file(folder / "segment", file,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool reorder = argc == 3 && std::string_view(argv[2]) == "reorder";
  if (argc != 2 && !reorder) {
    std::fprintf(stderr, "usage: write_sample_segment FILE [reorder]\n");
    return 2;
  }
  return Run(argv[1], reorder);
}
