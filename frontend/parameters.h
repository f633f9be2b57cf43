// Reads a module's parameters from the cluster spec: typed, bounded, and none misspelt.
//
// No I/O.
// Threads: thread-compatible.
// Errors: Finish: INVALID_ARGUMENT naming the first parameter that is not of its type, out of its
//   range, or that nobody asked for.

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

  // Each leaves `value` alone if the parameter is absent or wrong.
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

  // The first mistake. To be called after everything was read.
  neptune::Status Finish() const;

 private:
  // The text of the parameter, which is now known; null if it is absent.
  const std::string* Find(std::string_view name);
  bool ReadWhole(std::string_view name, uint64_t min, uint64_t max, uint64_t* number);
  template <typename... Args>
  void Fail(std::string_view name, const std::string& text, const Args&... what);

  const std::map<std::string, std::string>& parameters_;
  std::set<std::string, std::less<>> known_;
  neptune::Status error_;
};

}  // namespace search::frontend
