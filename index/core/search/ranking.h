// The ranking function: BM25F over title, body and extra text, plus the static rank.
//
//   score(d)  = sum over the query's scoring terms t of  q(t) * idf(t) * f(t, d) / (k1 + f(t, d))
//               + static_rank_weight * static_rank(d)
//   q(t)      = number of occurrences of t in the query, times their share (`word^0.5`)
//   f(t, d)   = sum over fields c of  weight(c) * frequency(t, c, d) / (1 - b(c) + b(c) * l(c, d))
//   l(c, d)   = length of field c in d / mean length of field c in the collection
//   idf(t)    = ln(1 + (N - df(t) + 0.5) / (df(t) + 0.5))
//
// Source: [Robertson04] (BM25F); idf with the 1 inside as in Lucene, so that no
//   term lowers a document's score.
// Departs from source: field lengths are those of length_code.h (within 1/32); every term's
//   saturation and its product with idf are rounded to multiples of 2^-16, so that the sum does not
//   depend on the order of addition; a saturation counts at most 255/256.
// Threads: plain values.

#pragma once

#include <array>
#include <cstdint>

#include "index/core/document.h"

namespace search::index {

struct RankingOptions {
  struct FieldOptions {
    float weight = 1;  // weight of one occurrence; >= 0
    float b = 0.4F;    // length normalization, in [0, 1]: how much a longer field lowers the weight

    bool operator==(const FieldOptions&) const = default;
  };

  // Saturation of the term frequency; larger saturates later. Default: best mean nDCG@10 of twelve
  // settings on six judged collections, by a small margin.
  float k1 = 1.5F;
  // Options by field. Defaults: a word of the title weighs three of the body, a word of an anchor
  // four, chosen on known items of a linked corpus (tools/evaluate/README.md); b is the published
  // value, because a larger one does better only on short texts of similar lengths
  // (index/core/README.md).
  std::array<FieldOptions, kFieldCount> fields = {
      {{.weight = 3, .b = 0.4F}, {.weight = 1, .b = 0.4F}, {.weight = 4, .b = 0.4F}}};
  // Score of static rank 1. Default: less than one good word, enough to break ties; chosen with the
  // weight of anchors.
  float static_rank_weight = 0.5F;

  bool operator==(const RankingOptions&) const = default;
};

// True if every value is finite and in its range.
bool IsValid(const RankingOptions& options);

}  // namespace search::index
