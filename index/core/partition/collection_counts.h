// Collection-wide counts that ranking needs, independent of where they were counted.
//
// Interface.
// Threads: immutable after construction.
// Errors: DocumentFrequency gives DATA_LOSS for damaged files.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "index/core/document.h"
#include "neptune/base/status.h"

namespace search::index {

class CollectionCounts {
 public:
  virtual ~CollectionCounts() = default;

  virtual uint64_t document_count() const = 0;
  // Number of words over all documents, by Field.
  virtual const std::array<uint64_t, kFieldCount>& length_sums() const = 0;
  // Number of documents that hold the term; 0 for a term that was not counted.
  virtual neptune::StatusOr<uint32_t> DocumentFrequency(std::string_view key) const = 0;
};

}  // namespace search::index
