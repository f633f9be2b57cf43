// Filters by declared fields (index/core/document_fields.h) in query text: `url:docs/library`,
// `lang:en`, `before:2024-03`, `after:2024`.
//
// Threads: pure functions.

#pragma once

#include <string_view>
#include <vector>

#include "index/core/query/query.h"

namespace search::index {

// The names of the filters, as they are typed before the colon.
inline constexpr std::string_view kFilterNames[] = {"url", "lang", "before", "after"};

// The nodes that a document must match for the filter: one kField for each word of an address, else
// one. Empty if the text does not denote a value of the field.
std::vector<QueryNode> FieldFilters(std::string_view name, std::string_view text);

// What the filter takes, as a sentence.
std::string_view FilterAdvice(std::string_view name);

}  // namespace search::index
