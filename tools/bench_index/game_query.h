// The query syntax of search engine benchmarks: `+a +b` all of, `a b` any of, `"a b"` phrase, `-c`
// none; these can be combined. Words are runs of ASCII letters and digits.
//
// Source: the syntax that search-benchmark-game gives its engines.
// Threads: pure functions.
// Errors: none; parts without a word are ignored.

#pragma once

#include <string_view>
#include <vector>

#include "index/core/query/query.h"

namespace search::tools {

// Documents must hold all `+` parts and none of the `-` parts; without a `+` part, at least one of
// the others. Other parts beside a `+` part only add to scores.
index::Query ParseGameQuery(std::string_view text);

// Classes that results are compared by; a long union is one of 3 to 10 different words.
enum class QueryClass { kTerm, kIntersection, kUnion, kLongUnion, kPhrase, kMixed, kNegated };
inline constexpr int kQueryClassCount = 7;

// Classifies by the signs only; never returns kLongUnion.
QueryClass ClassOf(std::string_view text);
// ClassOf; a long union is in both kUnion and kLongUnion.
std::vector<QueryClass> ClassesOf(std::string_view text);
std::string_view NameOf(QueryClass query_class);

}  // namespace search::tools
