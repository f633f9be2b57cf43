// Method names of document servers, and the mapping of documents to partitions.
//
// Shapes: Fetch takes a FetchRequest whose documents all belong to the called partition and returns
//   a FetchResponse; a document of another partition is answered as not found.

#pragma once

#include <cstdint>

namespace search::docserver {

inline constexpr char kDocumentService[] = "docs";

// A stateless read.
inline constexpr char kFetchMethod[] = "Fetch";

// A read, available if documents change: takes a FindUrlsRequest and returns a FindUrlsResponse,
// for documents of the called partition only, also about the numbers that new urls would get.
inline constexpr char kFindUrlsMethod[] = "FindUrls";
inline constexpr int kFindUrlsMax = 1000;

// REQUIRES: partition_count > 0.
constexpr uint32_t PartitionOfDocument(uint64_t doc_id, uint32_t partition_count) {
  return static_cast<uint32_t>(doc_id % partition_count);
}

}  // namespace search::docserver
