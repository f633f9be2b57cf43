// Reads text files of lines with columns.
//
// Reads files. Threads: pure functions.
// Errors: INVALID_ARGUMENT a line longer than the limit, which the message names; those of
//   LineReader; those of `use`, prefixed with file and line.

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/streams/byte_source.h"

namespace search::tools {

// Splits at any of the separators; drops empty parts.
std::vector<std::string_view> Columns(std::string_view line, std::string_view separators);

// Calls `use` with each line that is not empty, without a carriage return at its end.
neptune::Status ForEachLine(const std::string& path, size_t line_size_max,
                            const std::function<neptune::Status(std::string_view)>& use);
// The same over bytes of another source; `name` is used in messages.
neptune::Status ForEachLine(ByteSource* source, const std::string& name, size_t line_size_max,
                            const std::function<neptune::Status(std::string_view)>& use);

}  // namespace search::tools
