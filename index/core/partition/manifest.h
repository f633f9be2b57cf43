// The manifest of a partition: the one small file that names its current segments and their live
// documents. Replacing it commits a change.
//
// The design follows LevelDB and Lucene. Format: README.md.
// Reads and writes one file.
// Threads: a plain value.
// Errors: NOT_FOUND, DATA_LOSS, UNAVAILABLE.
// Limits: kManifestSegmentsMax segments.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/core/segment/section_file.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr std::string_view kManifestFileName = "manifest";
inline constexpr FileKind kManifestKind = {.magic = 0x464d504e, .version = 1};  // "NPMF"
inline constexpr size_t kManifestSegmentsMax = 4096;

struct ManifestSegment {
  // The segment's directory is segment.NUMBER; numbers are never reused.
  uint64_t number = 0;
  // fingerprint of the segment file
  uint64_t fingerprint = 0;
  // Generation of the live documents in use; 0: all are live.
  uint64_t live_generation = 0;

  bool operator==(const ManifestSegment&) const = default;
};

struct Manifest {
  // Incremented by each commit.
  uint64_t epoch = 0;
  // Larger than the number of any segment that was ever committed.
  uint64_t next_number = 1;
  // Version of the collection terms in use; 0: none yet.
  uint64_t terms_version = 0;
  // Segments in the order in which they were added.
  std::vector<ManifestSegment> segments;

  bool operator==(const Manifest&) const = default;
};

neptune::StatusOr<Manifest> ReadManifest(const std::string& path);
// Reads from a container that is already open.
neptune::StatusOr<Manifest> ManifestFromFile(const SectionFile& file);

// After OK the file is the new one also when the machine stops; before, it is the old or the new
// one.
neptune::Status WriteManifest(const Manifest& manifest, const std::string& directory);

}  // namespace search::index
