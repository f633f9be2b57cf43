#include "frontend/model/parameters.h"

#include <charconv>

#include "neptune/base/strings.h"

namespace search::frontend {

using neptune::InvalidArgument;
using neptune::Status;

const std::string* ParameterReader::Find(std::string_view name) {
  known_.emplace(name);
  const auto found = parameters_.find(std::string(name));
  return found == parameters_.end() ? nullptr : &found->second;
}

template <typename... Args>
void ParameterReader::Fail(std::string_view name, const std::string& text, const Args&... what) {
  if (error_.ok()) error_ = InvalidArgument("parameter ", name, " is '", text, "'; ", what...);
}

bool ParameterReader::ReadWhole(std::string_view name, uint64_t min, uint64_t max,
                                uint64_t* number) {
  const std::string* const text = Find(name);
  if (text == nullptr) return false;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, *number);
  if (error == std::errc() && stop == end && *number >= min && *number <= max) return true;
  Fail(name, *text, "it must be a whole number from ", min, " to ", max);
  return false;
}

void ParameterReader::Real(std::string_view name, double min, double max, double* value) {
  const std::string* const text = Find(name);
  if (text == nullptr) return;
  double number = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end || !(number >= min && number <= max)) {
    return Fail(name, *text, "it must be a number from ", min, " to ", max);
  }
  *value = number;
}

void ParameterReader::Millis(std::string_view name, neptune::Duration min, neptune::Duration max,
                             neptune::Duration* value) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  uint64_t number = 0;
  if (ReadWhole(name, duration_cast<milliseconds>(min).count(),
                duration_cast<milliseconds>(max).count(), &number)) {
    *value = milliseconds(number);
  }
}

void ParameterReader::Flag(std::string_view name, bool* value) {
  const std::string* const text = Find(name);
  if (text == nullptr) return;
  if (*text != "true" && *text != "false") {
    return Fail(name, *text, "it must be true or false");
  }
  *value = *text == "true";
}

void ParameterReader::Text(std::string_view name, std::string* value) {
  if (const std::string* const text = Find(name)) *value = *text;
}

Status ParameterReader::Finish() const {
  if (!error_.ok()) return error_;
  for (const auto& [name, text] : parameters_) {
    if (!known_.contains(name)) return InvalidArgument("unknown parameter '", name, "'");
  }
  return neptune::OkStatus();
}

}  // namespace search::frontend
