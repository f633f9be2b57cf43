// Reads a module's parameters from the cluster spec, with types and bounds; rejects unknown names.
//
// No I/O.
// Threads: thread-compatible.
// Errors: Finish: INVALID_ARGUMENT names the first parameter that has the wrong type, is out of
//   range, or was not read.

#pragma once

#include <concepts>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::frontend {

class ParameterReader {
 public:
  // `parameters` outlives the reader.
  explicit ParameterReader(const std::map<std::string, std::string>& parameters)
      : parameters_(parameters) {}

  // Each function leaves `value` unchanged if the parameter is absent or invalid.
  template <std::unsigned_integral Number>
  void Whole(std::string_view name, uint64_t min, uint64_t max, Number* value) {
    uint64_t number = 0;
    if (ReadWhole(name, min, max, &number)) *value = static_cast<Number>(number);
  }
  void Real(std::string_view name, double min, double max, double* value);
  // Whole milliseconds.
  void Millis(std::string_view name, neptune::Duration min, neptune::Duration max,
              neptune::Duration* value);
  // "true" or "false".
  void Flag(std::string_view name, bool* value);
  void Text(std::string_view name, std::string* value);

  // Returns the first error. REQUIRES: all parameters have been read.
  neptune::Status Finish() const;

 private:
  // Returns the text of the parameter, null if it is absent, and marks the name as known.
  const std::string* Find(std::string_view name);
  bool ReadWhole(std::string_view name, uint64_t min, uint64_t max, uint64_t* number);
  template <typename... Args>
  void Fail(std::string_view name, const std::string& text, const Args&... what);

  const std::map<std::string, std::string>& parameters_;
  std::set<std::string, std::less<>> known_;
  neptune::Status error_;
};

}  // namespace search::frontend
