// The file manifest.json of an index folder: what the index holds, and the checksum of each file.
//
// Format: format.md.
// Threads: plain values, functions without state.
// Errors: kNotFound no manifest (no index, or an unfinished one); kDataLoss unreadable, or a file
//   is missing or damaged.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/build_index/build_journal.h"

namespace search::tools {

// Also counts the rules of analysis (index/core/analysis), by which words of documents and queries
// meet, whatever engine keeps them. 2: signs and names with signs are words.
inline constexpr uint32_t kIndexFormatVersion = 2;

struct ManifestPartition {
  std::string folder;  // inside the index folder: "tier1/0"
  uint64_t document_count = 0;
};

// A set of partitions of one kind: an index tier, or the document stores.
struct ManifestPart {
  std::string name;            // "tier1", "tier2", "docs"
  std::string implementation;  // variant of the index tier or of the document store
  std::vector<ManifestPartition> partitions;
};

struct IndexManifest {
  uint32_t format_version = kIndexFormatVersion;
  // Identifies the contents: equal for equal documents and options, independent of time and place
  // of the build; < 2^53.
  uint64_t index_version = 0;
  std::string fingerprint;  // fingerprint of inputs and options (BuildJournal)
  uint64_t document_count = 0;
  uint64_t link_count = 0;
  double tier1_share = 0;
  std::vector<ManifestPart> parts;
  std::vector<OutputFile> files;
};

neptune::Status WriteIndexManifest(const std::string& folder, const IndexManifest& manifest);
neptune::StatusOr<IndexManifest> ReadIndexManifest(const std::string& folder);
// Parses the text of manifest.json and checks that all its paths stay inside the index folder.
neptune::StatusOr<IndexManifest> ParseIndexManifest(std::string_view text);

// Reads every file and compares it with the manifest; the message names the first mismatch.
neptune::Status VerifyIndexFiles(const std::string& folder, const IndexManifest& manifest);

}  // namespace search::tools
