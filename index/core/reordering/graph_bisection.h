// Finds an order of documents in which similar ones stand together, so that gaps in posting lists are
// small, blocks hold similar documents and their bounds are tight: recursive graph bisection.
//
// Source: recursive graph bisection [Dhulipala16], made faster by [Mackenzie21].
// Departs from source: all documents of a part are split at the middle of what they gain on the right,
//   instead of exchanging the best pairs; a document's own presence counts a tenth in its terms' degrees;
//   a part is settled when at most 1 % of it moves; terms that stand in one document of a part, or in
//   all, cannot tell its halves apart and are dropped from it, so that work shrinks with depth.
// No I/O, no clock; up to thread_count threads inside the call.
// Threads: pure function. The order depends on input and options alone, not on thread_count.
// Units: ordinals of documents in the given order.
// Limits: 2^28 documents, 2^32 - 1 terms. Memory beside the input, which is released first, is its size
//   again and 32 bytes a document and term.

#pragma once

#include <cstdint>
#include <vector>

namespace search::index {

// The distinct terms of each document.
struct ForwardIndex {
  // Where the terms of each document begin in `terms`, and the end: document_count + 1 numbers.
  std::vector<uint64_t> starts = {0};
  // Numbers below term_count. Order within a document does not matter; numbers of frequent terms next
  // to each other are kind to caches.
  std::vector<uint32_t> terms;
  uint32_t term_count = 0;

  uint32_t document_count() const { return static_cast<uint32_t>(starts.size() - 1); }
};

struct ReorderOptions {
  // Rounds of moves between two halves. Larger: slower, a little better. Default: the papers'; 10
  // save a tenth of the time and cost 0.1 %.
  int iterations_max = 20;
  // Parts of at most so many documents keep the given order. Larger: faster, gaps within a part stay.
  // Default: 16 is no better.
  uint32_t part_size_min = 32;
  // Parts are independent, so threads share them out; the first bisection is one thread's.
  int thread_count = 1;
};

// The ordinals of the documents in their new order: result[new ordinal] = given ordinal. A permutation;
// documents without terms that tell them apart keep the given order among themselves.
std::vector<uint32_t> ReorderDocuments(ForwardIndex index, const ReorderOptions& options = {});

// The sum over all postings of log2 of the gap to the posting before (of the first: its ordinal + 1):
// what the order is to make small, in bits. `order` as ReorderDocuments gives it.
double LogGapCost(const ForwardIndex& index, const std::vector<uint32_t>& order);

}  // namespace search::index
