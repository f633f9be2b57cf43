#include "index/core/partition/changed_terms.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "index/core/segment/term_dictionary.h"

namespace search::index {
namespace {

// Compares two dictionaries in parallel.
class Comparison {
 public:
  Comparison(const CollectionTerms& living, const Segment& base, const CollectionCounts& published,
             ChangedTerms* changed)
      : living_(living.terms()), base_(base.terms()), published_(published), changed_(changed) {}

  neptune::Status Run() {
    bool lives = living_.Next();
    bool was = base_.Next();
    while (lives || was) {
      const int order = !lives ? 1 : !was ? -1 : living_.key().compare(base_.key());
      const std::string_view key = order <= 0 ? living_.key() : base_.key();
      int64_t difference = 0;
      if (order <= 0) difference += living_.entry().document_frequency;
      if (order >= 0) difference -= base_.entry().document_frequency;
      if (difference != 0) NEPTUNE_RETURN_IF_ERROR(Add(key, difference, order >= 0));
      if (order <= 0) lives = living_.Next();
      if (order >= 0) was = base_.Next();
    }
    NEPTUNE_RETURN_IF_ERROR(living_.status());
    return base_.status();
  }

 private:
  neptune::Status Add(std::string_view key, int64_t difference, bool is_published) {
    if (changed_->terms.size() == kChangedTermsMax) {
      return neptune::ResourceExhausted("changes affect more than ", kChangedTermsMax,
                                        " terms; the index should be built anew");
    }
    ChangedTerm term{.key = std::string(key), .difference = difference};
    if (is_published) {
      NEPTUNE_ASSIGN_OR_RETURN(term.published_frequency, published_.DocumentFrequency(key));
    }
    changed_->terms.push_back(std::move(term));
    return neptune::OkStatus();
  }

  TermCursor living_;
  TermCursor base_;
  const CollectionCounts& published_;
  ChangedTerms* const changed_;
};

}  // namespace

neptune::StatusOr<ChangedTerms> FindChangedTerms(const CollectionTerms& living, const Segment& base,
                                                 const CollectionCounts& published) {
  ChangedTerms changed;
  changed.published_document_count = published.document_count();
  changed.published_length_sums = published.length_sums();
  changed.document_difference =
      static_cast<int64_t>(living.document_count()) - static_cast<int64_t>(base.document_count());
  for (size_t field = 0; field < kFieldCount; ++field) {
    changed.length_differences[field] =
        static_cast<int64_t>(living.length_sums()[field] - base.totals().length_sums[field]);
  }
  NEPTUNE_RETURN_IF_ERROR(Comparison(living, base, published, &changed).Run());
  return changed;
}

neptune::Status ChangedTermsSum::Add(const ChangedTerms& piece) {
  if (is_empty_) {
    published_document_count_ = totals_.document_count = piece.published_document_count;
    published_length_sums_ = totals_.length_sums = piece.published_length_sums;
    is_empty_ = false;
  }
  if (piece.published_document_count != published_document_count_ ||
      piece.published_length_sums != published_length_sums_) {
    return neptune::FailedPrecondition("partitions belong to different published collections");
  }
  // Differences are added modulo 2^64: negative ones wrap around, and the sum wraps back.
  totals_.document_count += static_cast<uint64_t>(piece.document_difference);
  for (size_t field = 0; field < kFieldCount; ++field) {
    totals_.length_sums[field] += static_cast<uint64_t>(piece.length_differences[field]);
  }
  for (const ChangedTerm& term : piece.terms) {
    Sum& sum = terms_[term.key];
    sum.difference += term.difference;
    sum.published_frequency = std::max(sum.published_frequency, term.published_frequency);
  }
  if (terms_.size() <= kChangedTermsMax) return neptune::OkStatus();
  return neptune::ResourceExhausted("changes affect more than ", kChangedTermsMax,
                                    " terms; the index should be built anew");
}

std::vector<std::string> ChangedTermsSum::UnknownTerms() const {
  std::vector<std::string> unknown;
  for (const auto& [key, sum] : terms_) {
    if (sum.published_frequency == 0) unknown.push_back(key);
  }
  return unknown;
}

void ChangedTermsSum::LearnPublishedFrequency(const std::string& key, uint32_t frequency) {
  const auto found = terms_.find(key);
  if (found == terms_.end()) return;
  found->second.published_frequency = std::max(found->second.published_frequency, frequency);
}

CollectionNumbers ChangedTermsSum::Numbers() const {
  CollectionNumbers numbers = totals_;
  for (const auto& [key, sum] : terms_) {
    const int64_t frequency = int64_t{sum.published_frequency} + sum.difference;
    if (frequency <= 0) continue;
    numbers.document_frequencies.emplace_back(
        key, static_cast<uint32_t>(std::min<int64_t>(frequency, UINT32_MAX)));
  }
  return numbers;
}

}  // namespace search::index
