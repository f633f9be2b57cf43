// Names under which document servers are called, and which partition holds a document.
//
// Names and one pure function.
// Shapes: Fetch takes a FetchRequest whose documents all belong to the called partition and gives a
//   FetchResponse; a document of another partition is answered as not found.

#pragma once

#include <cstdint>

namespace search::docserver {

inline constexpr char kDocumentService[] = "docs";

// A stateless read.
inline constexpr char kFetchMethod[] = "Fetch";

// A read where documents change: FindUrlsRequest to FindUrlsResponse, of the called partition's documents alone.
inline constexpr char kFindUrlsMethod[] = "FindUrls";
inline constexpr int kFindUrlsMax = 1000;

// REQUIRES: partition_count > 0.
constexpr uint32_t PartitionOfDocument(uint64_t doc_id, uint32_t partition_count) {
  return static_cast<uint32_t>(doc_id % partition_count);
}

}  // namespace search::docserver
