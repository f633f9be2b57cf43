// Changes of documents: validation, and the number assigned to a document that has none yet.
//
// Threads: pure functions.
// Units: sizes in bytes; versions as below.
// Errors: INVALID_ARGUMENT with the reason: malformed bytes, text that is not UTF-8, no url,
//   neither content nor removal, an invalid rank, a limit below.
// Limits: the constants; all are checked before anything is stored.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "index/updates/document_change.pb.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::index {

inline constexpr size_t kUrlSizeMax = 2048;
inline constexpr size_t kTitleSizeMax = 4096;
inline constexpr size_t kTextSizeMax = size_t{2} << 20;
inline constexpr size_t kExtraTextSizeMax = size_t{64} << 10;
inline constexpr size_t kSiteSizeMax = 256;
inline constexpr size_t kStructureSizeMax = size_t{1} << 20;
inline constexpr int kDocumentsOfChangeMax = 1000;
inline constexpr size_t kPartitionChangeSizeMax = size_t{8} << 20;
inline constexpr size_t kStatisticsPieceSizeMax = size_t{1} << 20;
inline constexpr uint32_t kStatisticsPiecesMax = 4096;

// Static rank of a new document without one: the value that the index builder assigns to all
// documents of a collection without links.
inline constexpr float kNewDocumentRank = 0.5F;

// A version is a time in microseconds since 1970, times 4096, plus a sequence number that
// distinguishes changes of the same time.
inline constexpr int kVersionNumberBits = 12;
constexpr uint64_t VersionAt(neptune::WallTime time) {
  return static_cast<uint64_t>(time.ns_since_1970 / 1000) << kVersionNumberBits;
}
constexpr uint64_t VersionSpan(neptune::Duration duration) {
  return VersionAt({std::chrono::nanoseconds(duration).count()});
}

// How long the removal of a document that no index was built from is remembered, so that a late
// older change of it is recognized. Larger: more removals are stored. Default: far longer than any
// writer retries or clocks differ.
inline constexpr neptune::Duration kRemovalsKept = std::chrono::hours(2);

// How long a request key is remembered; shorter than kRemovalsKept, so that a retried request is
// never too late. Larger: more keys are stored. Default: longer than any client retries.
inline constexpr neptune::Duration kRequestKeysKept = std::chrono::hours(1);
inline constexpr size_t kRequestKeySize = 16;

// Documents that an index was built from have numbers below this. Later documents without a given
// number have one derived from the hash of their url, at or above this.
inline constexpr uint64_t kFirstHashedDocId = uint64_t{1} << 63;

// The number of a document that came with its url alone: the same url, the same number, so that
// sending it again replaces it. Among a hundred million urls two share one with a probability of
// 0.0005.
uint64_t DocIdOfUrl(std::string_view url);
uint64_t HashOfUrl(std::string_view url);

neptune::Status CheckDocumentChange(const DocumentChange& change);
// Checks the limits, and that the documents of a change are distinct.
neptune::Status CheckPartitionChange(const PartitionChange& change);

// Parses and checks a change.
neptune::StatusOr<PartitionChange> ParsePartitionChange(std::string_view bytes);

}  // namespace search::index
