// Writes thread settings into the text of a cluster spec; everything else in it, including
// comments, is unchanged.
//
//   services {                      services {
//     name: "index"                   name: "index"
//     concurrency: 8          ──►     concurrency: 13
//     threads { ... }                 threads { service_class: "gold" count: 8 }
//   }                                 threads { service_class: "silver" count: 4 }
//                                   }
//
// Threads: pure function.
// Errors: kNotFound no service of that name; kInvalidArgument the text is malformed (a brace
//   or a quote is missing), or the service is in it twice.
// Limits: knows braces, quotes, comments and lists, not the schema: the caller parses the result.

#pragma once

#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "tools/mtrr/service_state.h"

namespace search::tools {

neptune::StatusOr<std::string> EditSpec(std::string_view text, std::string_view service,
                                        const ThreadSettings& settings);

}  // namespace search::tools
