// Parsing of a whole number from the parameters of a service.
//
// Threads: pure function.
// Errors: kInvalidArgument the value is not a whole number, or is out of bounds.

#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include "neptune/base/status.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

struct NumberBounds {
  uint64_t otherwise = 0;  // value if the parameter is missing
  uint64_t least = 0;
  uint64_t most = UINT64_MAX;
};

inline StatusOr<uint64_t> NumberParameter(const ModuleContext& context, const std::string& key,
                                          const NumberBounds& bounds) {
  const auto found = context.parameters.find(key);
  if (found == context.parameters.end()) return bounds.otherwise;
  const std::string& text = found->second;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < bounds.least ||
      number > bounds.most) {
    return InvalidArgument("parameter ", key, " '", text, "' is not a whole number from ",
                           bounds.least, " to ", bounds.most);
  }
  return number;
}

}  // namespace neptune::examples
