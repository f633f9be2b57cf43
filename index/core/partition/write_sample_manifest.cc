// Writes the manifest that the fuzz target starts from: write_sample_manifest FILE

#include <cstdio>
#include <filesystem>

#include "index/core/partition/manifest.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_sample_manifest FILE\n");
    return 2;
  }
  const std::filesystem::path file = argv[1];
  const std::filesystem::path folder = file.string() + ".parts";
  std::filesystem::create_directories(folder);
  const search::index::Manifest manifest = {
      .epoch = 3, .next_number = 9, .terms_version = 1, .segments = {{2, 11, 0}, {8, 12, 4}}};
  if (!search::index::WriteManifest(manifest, folder.string()).ok()) return 1;
  std::filesystem::copy_file(folder / "manifest", file,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove_all(folder);
  return 0;
}
