// The terms of a segment that a prefix such as `vec*` stands for.
//
// Threads: pure function.
// Errors: DATA_LOSS for a damaged dictionary.
// Limits: kPrefixTermsMax terms; the first kPrefixKeysMax terms with the prefix are read.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/segment/term_dictionary.h"
#include "neptune/base/status.h"

namespace search::index {

// Larger: fewer cut prefixes, slower searches. Default: 64 lists are merged in a few milliseconds
// on large collections; three letters of English rarely begin more terms that matter.
inline constexpr size_t kPrefixTermsMax = 64;
// Larger: prefixes of two letters are chosen from more terms, each of which takes about 50 ns.
inline constexpr size_t kPrefixKeysMax = size_t{1} << 14;

struct PrefixTerm {
  std::string term;
  TermEntry entry;
};

struct PrefixTerms {
  std::vector<PrefixTerm> terms;  // ascending
  // True if the prefix has more terms; those in the most documents of the segment were kept.
  bool is_cut = false;
};

// The terms that begin with `prefix`, and `word` if it is a term. REQUIRES: prefix is not empty.
neptune::StatusOr<PrefixTerms> FindPrefixTerms(const TermDictionary& dictionary,
                                               std::string_view prefix, std::string_view word);

}  // namespace search::index
