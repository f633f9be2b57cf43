#include "index/core/partition/manifest.h"

#include <span>

#include "neptune/base/file.h"

namespace search::index {
namespace {

constexpr uint32_t kManifestTotalsSection = 1;
constexpr uint32_t kManifestSegmentsSection = 2;

struct Totals {
  uint64_t epoch = 0;
  uint64_t next_number = 0;
  uint64_t terms_version = 0;
};

}  // namespace

neptune::StatusOr<Manifest> ReadManifest(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto file, SectionFile::Open(path, kManifestKind, {}));
  return ManifestFromFile(*file);
}

neptune::StatusOr<Manifest> ManifestFromFile(const SectionFile& file) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto totals, file.Array<Totals>(kManifestTotalsSection));
  if (totals.size() != 1) return file.Damaged("totals");
  NEPTUNE_ASSIGN_OR_RETURN(const auto segments,
                           file.Array<ManifestSegment>(kManifestSegmentsSection));
  if (segments.size() > kManifestSegmentsMax) return file.Damaged("too many segments");
  Manifest manifest;
  manifest.epoch = totals[0].epoch;
  manifest.next_number = totals[0].next_number;
  manifest.terms_version = totals[0].terms_version;
  for (const ManifestSegment& segment : segments) {
    if (segment.number >= manifest.next_number) {
      return file.Damaged("segment ", segment.number, " is not below the next number");
    }
    for (const ManifestSegment& other : manifest.segments) {
      if (other.number == segment.number) return file.Damaged("segment ", segment.number, " twice");
    }
    manifest.segments.push_back(segment);
  }
  return manifest;
}

neptune::Status WriteManifest(const Manifest& manifest, const std::string& directory) {
  if (manifest.segments.size() > kManifestSegmentsMax) {
    return neptune::ResourceExhausted(directory, ": more than ", kManifestSegmentsMax, " segments");
  }
  const Totals totals = {manifest.epoch, manifest.next_number, manifest.terms_version};
  const std::string path = neptune::StrCat(directory, "/", kManifestFileName);
  NEPTUNE_ASSIGN_OR_RETURN(auto file, SectionFileWriter::Create(path, kManifestKind));
  file->BeginSection(kManifestTotalsSection);
  file->AppendArray(std::span(&totals, 1));
  file->BeginSection(kManifestSegmentsSection);
  file->AppendArray(std::span(manifest.segments));
  // The files that the manifest names must be durable before the manifest is.
  NEPTUNE_RETURN_IF_ERROR(neptune::SyncDirectory(directory));
  NEPTUNE_RETURN_IF_ERROR(file->Finish().status());
  return neptune::SyncDirectory(directory);
}

}  // namespace search::index
