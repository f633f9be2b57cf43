// Examples of the query language, shown on the help page and executed by a test.
//
// Threads: immutable table.

#pragma once

#include <span>
#include <string_view>

namespace search::index {

struct QueryExample {
  std::string_view syntax;   // the form, e.g. `"a phrase"`
  std::string_view meaning;  // one sentence
  std::string_view query;    // a query to try
};

// The examples, in the order in which a user learns them.
std::span<const QueryExample> QueryExamples();

}  // namespace search::index
