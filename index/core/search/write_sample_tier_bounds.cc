// Writes the bounds that the fuzz target starts from: write_sample_tier_bounds FILE

#include <cstdio>
#include <filesystem>
#include <string>

#include "index/core/search/sample_collection.h"
#include "index/core/search/tier_bounds.h"
#include "index/core/segment/format.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_sample_tier_bounds FILE\n");
    return 2;
  }
  const std::filesystem::path file = argv[1];
  const std::filesystem::path folder = file.string() + ".parts";
  if (!search::index::BuildSampleCollection(folder.string()).ok()) return 1;
  // The documents are those of both tiers.
  if (!search::index::WriteTierBounds({folder.string()}, {folder.string()}).ok()) return 1;
  std::filesystem::copy_file(folder / search::index::kTierBoundsFileName, file,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove_all(folder);
  return 0;
}
