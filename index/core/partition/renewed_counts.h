// Renewed counts of a collection whose documents changed since it was published: counts of the
// terms that the changes touched, layered over those of the published segment.
//
//   a term in the renewed counts   the renewed number
//   any other term                 as published: no document that holds it was added or removed
//
// Threads: immutable.
// Errors: those of both layers.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "index/core/partition/collection_counts.h"
#include "index/core/partition/collection_terms.h"
#include "neptune/base/status.h"

namespace search::index {

class RenewedCounts : public CollectionCounts {
 public:
  RenewedCounts(std::shared_ptr<const CollectionTerms> renewed,
                std::shared_ptr<const CollectionCounts> published)
      : renewed_(std::move(renewed)), published_(std::move(published)) {}

  uint64_t document_count() const override { return renewed_->document_count(); }
  const std::array<uint64_t, kFieldCount>& length_sums() const override {
    return renewed_->length_sums();
  }
  neptune::StatusOr<uint32_t> DocumentFrequency(std::string_view key) const override {
    NEPTUNE_ASSIGN_OR_RETURN(const auto entry, renewed_->terms().Find(key));
    return entry.has_value() ? entry->document_frequency : published_->DocumentFrequency(key);
  }

 private:
  const std::shared_ptr<const CollectionTerms> renewed_;
  const std::shared_ptr<const CollectionCounts> published_;
};

}  // namespace search::index
