// Status sections: what each part of a node shows on its status page, as facts and tables.
//
// A part registers a named section with a function that fills in a StatusReport. The admin pages
// render all sections as HTML or JSON; no markup is produced here.
//
// Threads: StatusSections is thread-safe. Render functions run on the admin kernel thread, not on
//   the loop that owns the part's state. They read atomics, hold a LeafMutex briefly, or read a
//   view that the owner published; they must not wait and must not add or remove sections.
// Limits: kStatusSectionCountMax sections; a table keeps kStatusRowCountMax rows and counts those
//   it left out.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kStatusSectionCountMax = 200;
inline constexpr size_t kStatusRowCountMax = 1000;

// One value. It keeps its type, so that JSON shows numbers as numbers.
using StatusCell = std::variant<std::string, int64_t, double, bool>;

// Makes a cell from text, an id, an integer, a floating-point number or a bool.
template <typename T>
StatusCell MakeStatusCell(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return std::string(std::string_view(value));
  } else {
    return MakeStatusCell(value.value());
  }
}

struct StatusTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<StatusCell>> rows;
  size_t rows_left_out = 0;

  // Adds a row with one cell for each column. Once the table is full, rows are only counted.
  template <typename... Cells>
  void AddRow(const Cells&... cells) {
    if (rows.size() >= kStatusRowCountMax) {
      ++rows_left_out;
    } else {
      rows.push_back({MakeStatusCell(cells)...});
    }
  }
};

struct StatusReport {
  std::string name;  // the section's name; filled in by StatusSections
  std::vector<std::pair<std::string, StatusCell>> facts;
  std::vector<StatusTable> tables;

  template <typename T>
  void AddFact(std::string_view fact, const T& value) {
    facts.emplace_back(fact, MakeStatusCell(value));
  }
};

class StatusSections;

// Removes the section on destruction. The StatusSections must outlive it.
class StatusSection {
 public:
  StatusSection() = default;
  StatusSection(StatusSection&& other) noexcept { *this = std::move(other); }
  StatusSection& operator=(StatusSection&& other) noexcept;
  ~StatusSection() { Remove(); }
  // Once this returns, the render function is not running and will not run again.
  void Remove();

 private:
  friend class StatusSections;
  StatusSection(StatusSections* sections, std::string name)
      : sections_(sections), name_(std::move(name)) {}

  StatusSections* sections_ = nullptr;
  std::string name_;
};

class StatusSections {
 public:
  using RenderFunction = std::function<void(StatusReport* report)>;

  // Errors: INVALID_ARGUMENT empty name or function; FAILED_PRECONDITION the name is taken;
  // RESOURCE_EXHAUSTED at the limit.
  StatusOr<StatusSection> Add(std::string_view name, RenderFunction render);

  // Returns the reports of all sections, ordered by name.
  std::vector<StatusReport> Render() const;
  // Returns the report of one section. Errors: NOT_FOUND.
  StatusOr<StatusReport> Render(std::string_view name) const;

 private:
  friend class StatusSection;
  void Remove(const std::string& name);

  mutable LeafMutex mutex_;
  std::map<std::string, RenderFunction, std::less<>> sections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
