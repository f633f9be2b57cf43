// The parameters of a service module: declared in one place with type, limits, default and help,
// and set from the cluster spec before the module starts.
//
//   void DeclareParameters(ParameterTable& table) override {
//     table.RequiredText("path", &path_, "folder with one folder per partition");
//     table.Whole("size_mb", {1, 65'536}, &size_mb_, "maximum size of a partition in MiB");
//   }
//
// The default of a parameter is the value of its variable when it is declared.
//
// No I/O.
// Threads: thread-compatible.
// Errors: Set: INVALID_ARGUMENT names the parameter and its limits, or the names that exist.

#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

// Limits of a parameter; both ends are allowed.
struct WholeRange {
  uint64_t min = 0;
  uint64_t max = UINT64_MAX;
};
struct RealRange {
  double min = 0;
  double max = 0;
};
struct DurationRange {
  Duration min{0};
  Duration max{0};
};

// Names of registered variants, for ParameterTable::Choice.
template <typename Variants>
std::vector<std::string> NamesOf(const Variants& variants) {
  std::vector<std::string> names;
  for (const auto& variant : variants) names.emplace_back(variant.name);
  return names;
}

// What a module's user reads about a parameter.
struct ParameterDescription {
  std::string name;
  std::string limits;         // "a whole number from 1 to 65536"
  std::string default_value;  // as in a spec
  bool required = false;
  std::string help;
};

class ParameterTable {
 public:
  // Each function declares a parameter; Set assigns *value, which must outlive the table.
  // REQUIRES: the name is new, and the type of *value holds the whole range.
  template <std::unsigned_integral Number>
  void Whole(std::string_view name, const WholeRange& range, Number* value, std::string_view help) {
    AddWhole(
        name, range, {*value, std::numeric_limits<Number>::max()},
        [value](uint64_t number) { *value = static_cast<Number>(number); }, help);
  }
  void Real(std::string_view name, const RealRange& range, double* value, std::string_view help);
  // Whole milliseconds; the name ends in "_ms".
  void Millis(std::string_view name, const DurationRange& range, Duration* value,
              std::string_view help);
  // "true" or "false".
  void Flag(std::string_view name, bool* value, std::string_view help);
  void Text(std::string_view name, std::string* value, std::string_view help);
  // For a text whose default is not a constant; `help` says what it is.
  void Text(std::string_view name, std::optional<std::string>* value, std::string_view help);
  // One of `choices`.
  void Choice(std::string_view name, std::vector<std::string> choices, std::string* value,
              std::string_view help);
  // The same, for a parameter that each spec must give.
  template <std::unsigned_integral Number>
  void RequiredWhole(std::string_view name, const WholeRange& range, Number* value,
                     std::string_view help) {
    Whole(name, range, value, help);
    RequireLast();
  }
  void RequiredText(std::string_view name, std::string* value, std::string_view help) {
    Text(name, value, help);
    RequireLast();
  }

  // Sets the declared variables from the parameters of a spec. After an error some may be set.
  Status Set(const std::map<std::string, std::string>& given) const;

  // In the order of their declaration.
  std::vector<ParameterDescription> Describe() const;

 private:
  struct Entry {
    ParameterDescription description;
    // Returns false if the text is not within the limits.
    std::function<bool(const std::string& text)> set;
  };
  // The default of a whole number, and the maximum of its type.
  struct WholeType {
    uint64_t otherwise;
    uint64_t max;
  };

  void Add(ParameterDescription description, std::function<bool(const std::string&)> set);
  void AddWhole(std::string_view name, const WholeRange& range, const WholeType& type,
                std::function<void(uint64_t)> assign, std::string_view help);
  void RequireLast() { entries_.back().description.required = true; }
  // Null: no such parameter.
  const Entry* Find(std::string_view name) const;
  std::string Names() const;

  std::vector<Entry> entries_;
};

}  // namespace neptune
