#include "index/core/reordering/forward_index.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "index/core/segment/posting_cursor.h"

namespace search::index {
namespace {

// Memory per document or term: its entry in the index, its copy, and the bisection's state.
constexpr size_t kNodeSize = 40;
// Memory per posting, in the index and in its copy.
constexpr size_t kPostingSize = 2 * sizeof(uint32_t);

// The most frequent terms that fit, from the most frequent on; equally frequent ones by key.
neptune::StatusOr<std::vector<TermEntry>> ChooseTerms(const Segment& segment, size_t size_max) {
  std::vector<TermEntry> terms;
  TermCursor cursor(segment.terms());
  while (cursor.Next()) {
    if (cursor.entry().document_frequency > 1) terms.push_back(cursor.entry());
  }
  NEPTUNE_RETURN_IF_ERROR(neptune::Annotate(cursor.status(), segment.name()));
  std::stable_sort(terms.begin(), terms.end(), [](const TermEntry& a, const TermEntry& b) {
    return a.document_frequency > b.document_frequency;
  });
  size_t size = 0;
  const auto is_beyond = [&](const TermEntry& term) {
    size += kNodeSize + term.document_frequency * kPostingSize;
    return size > size_max;
  };
  terms.erase(std::find_if(terms.begin(), terms.end(), is_beyond), terms.end());
  return terms;
}

// Calls use(term number, ordinal) for every posting.
template <typename Use>
neptune::Status ForEachPosting(const Segment& segment, const std::vector<TermEntry>& terms,
                               const Use& use) {
  for (uint32_t term = 0; term < terms.size(); ++term) {
    PostingCursor cursor(segment.postings(), terms[term], segment.document_count());
    for (uint32_t at = cursor.Next(); at != kNoDocument; at = cursor.Next()) use(term, at);
    if (cursor.damaged()) return neptune::DataLoss(segment.name(), ": postings are damaged");
  }
  return neptune::OkStatus();
}

}  // namespace

neptune::StatusOr<ForwardIndex> MakeForwardIndex(const Segment& segment, size_t memory_size_max) {
  const size_t fixed = segment.document_count() * kNodeSize;
  if (fixed > memory_size_max) {
    return neptune::ResourceExhausted(segment.name(), ": reordering ", segment.document_count(),
                                      " documents needs more memory than ", memory_size_max);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto terms, ChooseTerms(segment, memory_size_max - fixed));
  ForwardIndex index;
  index.term_count = static_cast<uint32_t>(terms.size());
  index.starts.assign(size_t{segment.document_count()} + 1, 0);
  NEPTUNE_RETURN_IF_ERROR(ForEachPosting(
      segment, terms, [&](uint32_t, uint32_t ordinal) { ++index.starts[ordinal + 1]; }));
  std::partial_sum(index.starts.begin(), index.starts.end(), index.starts.begin());
  index.terms.resize(index.starts.back());
  std::vector<uint64_t> ends(index.starts.begin(), index.starts.end() - 1);
  NEPTUNE_RETURN_IF_ERROR(ForEachPosting(segment, terms, [&](uint32_t term, uint32_t ordinal) {
    index.terms[ends[ordinal]++] = term;
  }));
  return index;
}

}  // namespace search::index
