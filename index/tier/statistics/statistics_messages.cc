#include "index/tier/statistics/statistics_messages.h"

#include <algorithm>

#include "index/core/segment/format.h"

namespace search::index {
namespace {

ChangedTermsPage EmptyPage(const CountedPartition& counted) {
  ChangedTermsPage page;
  page.set_index_version(counted.index_version);
  page.set_published_document_count(counted.changed.published_document_count);
  for (const uint64_t sum : counted.changed.published_length_sums) {
    page.add_published_length_sums(sum);
  }
  return page;
}

// More documents than any collection has.
constexpr int64_t kDifferenceMax = int64_t{1} << 40;

neptune::Status ReadTerm(const ChangedTermMessage& message, std::vector<ChangedTerm>* terms) {
  if (message.key().empty() || message.key().size() > kTermKeySizeMax) {
    return neptune::InvalidArgument("a changed term of ", message.key().size(), " bytes");
  }
  if (message.difference() > kDifferenceMax || message.difference() < -kDifferenceMax) {
    return neptune::InvalidArgument("a changed term of ", message.difference(), " documents");
  }
  if (!terms->empty() && message.key() <= terms->back().key) {
    return neptune::InvalidArgument("changed terms out of order");
  }
  terms->push_back({.key = message.key(),
                    .difference = message.difference(),
                    .published_frequency = message.published_frequency()});
  return neptune::OkStatus();
}

}  // namespace

std::vector<ChangedTermsPage> PagesOf(const CountedPartition& counted) {
  const std::vector<ChangedTerm>& terms = counted.changed.terms;
  std::vector<ChangedTermsPage> pages = {EmptyPage(counted)};
  pages[0].set_change_count(counted.change_count);
  pages[0].set_document_difference(counted.changed.document_difference);
  for (const int64_t difference : counted.changed.length_differences) {
    pages[0].add_length_differences(difference);
  }
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i > 0 && i % kPageTermsMax == 0) pages.push_back(EmptyPage(counted));
    ChangedTermMessage& message = *pages.back().add_terms();
    message.set_key(terms[i].key);
    message.set_difference(terms[i].difference);
    message.set_published_frequency(terms[i].published_frequency);
  }
  return pages;
}

neptune::StatusOr<CountedPartition> ReadPage(std::string_view bytes) {
  ChangedTermsPage page;
  if (!page.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return neptune::InvalidArgument(bytes.size(), " bytes are not a valid page of changed terms");
  }
  const int differences = page.length_differences_size();
  if (page.published_length_sums_size() != static_cast<int>(kFieldCount) ||
      (differences != 0 && differences != static_cast<int>(kFieldCount))) {
    return neptune::InvalidArgument("a page of changed terms with a wrong number of length fields");
  }
  CountedPartition counted{
      .index_version = page.index_version(), .change_count = page.change_count(), .changed = {}};
  ChangedTerms& changed = counted.changed;
  changed.published_document_count = page.published_document_count();
  std::copy(page.published_length_sums().begin(), page.published_length_sums().end(),
            changed.published_length_sums.begin());
  changed.document_difference = page.document_difference();
  std::copy(page.length_differences().begin(), page.length_differences().end(),
            changed.length_differences.begin());
  for (const ChangedTermMessage& message : page.terms()) {
    NEPTUNE_RETURN_IF_ERROR(ReadTerm(message, &changed.terms));
  }
  return counted;
}

}  // namespace search::index
