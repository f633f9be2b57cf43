// Finds an order of documents in which similar documents are adjacent, so that gaps in posting
// lists are small and blocks have tight bounds: recursive graph bisection.
//
// Source: recursive graph bisection [Dhulipala16], made faster by [Mackenzie21].
// Departs from source: all documents of a part are split at the middle of their gains on the right,
//   instead of exchanging the best pairs; a document's own presence counts a tenth in its terms'
//   degrees; a part is settled when at most 1 % of it moves; terms that occur in one document of a
//   part, or in all, cannot distinguish its halves and are dropped from it, so that work shrinks
//   with depth.
// No I/O, no clock; up to thread_count threads inside the call.
// Threads: pure function. The order depends only on input and options, not on thread_count.
// Units: ordinals of documents in the given order.
// Limits: 2^28 documents, 2^32 - 1 terms. Memory: a second copy of the input, which is released
//   first, plus 32 bytes per document and term.

#pragma once

#include <cstdint>
#include <vector>

namespace search::index {

// The distinct terms of each document.
struct ForwardIndex {
  // Start of each document's terms in `terms`, then the end: document_count + 1 numbers.
  std::vector<uint64_t> starts = {0};
  // Numbers below term_count. Order within a document does not matter; numbers of frequent terms
  // next to each other are kind to caches.
  std::vector<uint32_t> terms;
  uint32_t term_count = 0;

  uint32_t document_count() const { return static_cast<uint32_t>(starts.size() - 1); }
};

struct ReorderOptions {
  // Maximum number of rounds of moves between two halves. Larger: slower, slightly better. Default:
  // that of the papers; 10 saves a tenth of the time and costs 0.1 %.
  int iterations_max = 20;
  // Parts of at most this many documents keep the given order. Larger: faster, but gaps within a
  // part stay large. Default: 16 is no better.
  uint32_t part_size_min = 32;
  // Parts are independent and divided among the threads; the first bisection runs on one thread.
  int thread_count = 1;
};

// Returns the documents in their new order: result[new ordinal] = given ordinal. A permutation;
// documents without distinguishing terms keep their given relative order.
std::vector<uint32_t> ReorderDocuments(ForwardIndex index, const ReorderOptions& options = {});

// The objective: the sum over all postings of log2 of the gap to the previous posting (for the
// first: its ordinal + 1), in bits. `order` as returned by ReorderDocuments.
double LogGapCost(const ForwardIndex& index, const std::vector<uint32_t>& order);

}  // namespace search::index
