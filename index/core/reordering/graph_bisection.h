// Computes an order of documents in which similar ones are adjacent, so that gaps in posting lists
// are small, blocks hold similar documents and their bounds are tight: recursive graph bisection.
//
// Source: recursive graph bisection [Dhulipala16], made faster by [Mackenzie21].
// Departs from source: all documents of a part are split at the median of their gain from moving
//   right, instead of exchanging the best pairs; a document's own presence counts a tenth in its
//   terms' degrees; a part has converged when at most 1 % of it moves; terms that occur in one
//   document of a part, or in all, do not distinguish its halves and are dropped from it, so that
//   work shrinks with depth.
// No I/O, no clock; up to thread_count threads inside the call.
// Threads: pure function. The order depends on input and options alone, not on thread_count.
// Units: ordinals of documents in the given order.
// Limits: 2^28 documents, 2^32 - 1 terms. Memory is that of the input, which is released first,
//   plus its size again and 32 bytes per document and term.

#pragma once

#include <cstdint>
#include <vector>

namespace search::index {

// The distinct terms of each document.
struct ForwardIndex {
  // Start of each document's terms in `terms`, and the end: document_count + 1 numbers.
  std::vector<uint64_t> starts = {0};
  // Numbers below term_count. Order within a document does not matter; close numbers for frequent
  // terms improve cache locality.
  std::vector<uint32_t> terms;
  uint32_t term_count = 0;

  uint32_t document_count() const { return static_cast<uint32_t>(starts.size() - 1); }
};

struct ReorderOptions {
  // Maximum number of rounds of moves between two halves. Larger: slower, slightly better. Default:
  // that of the papers; 10 saves a tenth of the time and costs 0.1 %.
  int iterations_max = 20;
  // Parts of at most this many documents keep the given order. Larger: faster, gaps within a part
  // stay. Default: 16 is no better.
  uint32_t part_size_min = 32;
  // Parts are independent and divided among the threads; the first bisection runs on one thread.
  int thread_count = 1;
};

// Returns the ordinals of the documents in their new order: result[new ordinal] = given ordinal. A
// permutation; documents without distinguishing terms keep the given order among themselves.
std::vector<uint32_t> ReorderDocuments(ForwardIndex index, const ReorderOptions& options = {});

// The sum over all postings of log2 of the gap to the previous posting (for the first: its ordinal
// + 1), in bits: the objective that the order minimizes. `order` as returned by ReorderDocuments.
double LogGapCost(const ForwardIndex& index, const std::vector<uint32_t>& order);

}  // namespace search::index
