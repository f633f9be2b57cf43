// The query language in examples: what the help page shows and what a test executes.
//
// Threads: immutable table.

#pragma once

#include <span>
#include <string_view>

namespace search::index {

struct QueryExample {
  std::string_view syntax;   // the form, for instance `"a phrase"`
  std::string_view meaning;  // one sentence
  std::string_view query;    // a query to try
};

// The examples, in the order in which a user learns them.
std::span<const QueryExample> QueryExamples();

}  // namespace search::index
