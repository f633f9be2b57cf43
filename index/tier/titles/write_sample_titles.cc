// Writes a table of titles of a few documents, as a seed for the fuzz target.
// Usage: write_sample_titles FILE

#include <cstdio>
#include <filesystem>

#include "index/tier/titles/title_table.h"

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const std::filesystem::path file = argv[1];
  const std::string folder = file.parent_path().string();
  const auto writer = search::index::TitleTableWriter::Create(folder);
  if (!writer.ok()) return 1;
  for (uint64_t doc_id = 1; doc_id < 40; doc_id += 1 + doc_id % 3) {
    const std::string text = "text " + std::to_string(doc_id);
    if (!(*writer)->Add(doc_id, {.url = "doc:" + text, .title = text, .site = "s"}).ok()) return 1;
  }
  if (!(*writer)->Finish().ok()) return 1;
  std::filesystem::rename(folder + "/" + std::string(search::index::kTitleTableFileName), file);
  return 0;
}
