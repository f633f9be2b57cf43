// Writes the live documents that the fuzz target starts from: write_sample_live_documents FILE

#include <cstdio>

#include "index/core/segment/live_documents.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_sample_live_documents FILE\n");
    return 2;
  }
  search::index::LiveDocuments live(700);
  for (uint32_t ordinal = 3; ordinal < 700; ordinal += 11) live.Delete(ordinal);
  return live.Write(argv[1], /*segment_fingerprint=*/1).ok() ? 0 : 1;
}
