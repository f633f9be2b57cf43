// Files of lines that are cut into columns.
//
// Reads files. Threads: pure functions.
// Errors: INVALID_ARGUMENT for a line longer than the limit, naming it; those of LineReader; what
//   `use` returns, with the place put before it.

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/streams/byte_source.h"

namespace search::tools {

// The parts between any of the separators; empty parts are left out.
std::vector<std::string_view> Columns(std::string_view line, std::string_view separators);

// Calls `use` with each line that is not empty, without a carriage return at its end.
neptune::Status ForEachLine(const std::string& path, size_t line_size_max,
                            const std::function<neptune::Status(std::string_view)>& use);
// The same over bytes of another source; `name` is used in messages.
neptune::Status ForEachLine(ByteSource* source, const std::string& name, size_t line_size_max,
                            const std::function<neptune::Status(std::string_view)>& use);

}  // namespace search::tools
