// Any bytes as a run of an index build and as a term's occurrences, as a full disk or a dying one
// leaves them: read, or found damaged, without memory by numbers from the bytes.

#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "index/core/builder/occurrence_code.h"
#include "index/core/builder/term_run.h"
#include "index/core/testing/collection.h"
#include "tools/bazel/fuzz/place.h"

namespace {

using search::index::OccurrenceReader;
using search::index::RawPosting;

neptune::FuzzPlace read_term("a term is read");
neptune::FuzzPlace read_posting("a posting is read");
neptune::FuzzPlace found_damage("damage is found");

void ReadAll(std::string_view bytes) {
  OccurrenceReader reader(bytes);
  RawPosting posting;
  size_t gap_count = 0;
  while (reader.Next(&posting)) {
    read_posting.Reach();
    size_t frequency = 0;
    for (const uint32_t one : posting.frequencies) frequency += one;
    if (frequency != posting.position_gaps.size()) abort();
    gap_count += frequency;
  }
  if (gap_count > bytes.size()) abort();
  if (reader.damaged()) found_damage.Reach();
}

void ReadRun(const std::string& path) {
  const auto run = search::index::OpenRun(path);
  if (!run.ok()) abort();
  std::string occurrences;
  for (int i = 0;; ++i) {
    const auto found = (*run)->Next();
    if (!found.ok()) return found_damage.Reach();
    if (!*found) return;
    read_term.Reach();
    // A term that is not wanted is passed by.
    if (i % 3 == 2) continue;
    if (!(*run)->ReadOccurrences(&occurrences).ok()) return found_damage.Reach();
    ReadAll(occurrences);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const search::index::TemporaryFolder folder;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadAll(bytes);
  const std::string path = folder.path() + "/run";
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(data, 1, size, file) != size) abort();
  std::fclose(file);
  ReadRun(path);
  return 0;
}
