// Writes the collection terms that the fuzz target starts from: write_sample_terms FILE

#include <cstdio>
#include <filesystem>
#include <string>

#include "index/core/builder/index_builder.h"
#include "index/core/partition/collection_terms.h"

namespace {

int Run(const std::string& file) {
  const std::string folder = file + ".parts";
  auto builder = search::index::IndexBuilder::Create({.directory = folder});
  if (!builder.ok()) return 1;
  for (uint64_t i = 1; i <= 60; ++i) {
    const std::string body = "common word" + std::to_string(i % 30);
    if (!(*builder)->Add({.doc_id = i, .title = "title", .body = body}).ok()) return 1;
  }
  if (!(*builder)->Finish().ok()) return 1;
  const auto segment = search::index::Segment::Open(folder);
  if (!segment.ok()) return 1;
  const bool written = search::index::CountTerms({{segment->get()}}, file).ok();
  std::filesystem::remove_all(folder);
  return written ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_sample_terms FILE\n");
    return 2;
  }
  return Run(argv[1]);
}
