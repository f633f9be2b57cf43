#include "neptune/service/parameter_table.h"

#include <glog/logging.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

// Parses all of `text`.
template <typename Number>
bool Parse(const std::string& text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end;
}

uint64_t WholeMillis(Duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

std::string WholeLimits(const WholeRange& range) {
  if (range.max == UINT64_MAX) return StrCat("a whole number of at least ", range.min);
  return StrCat("a whole number from ", range.min, " to ", range.max);
}

}  // namespace

void ParameterTable::Add(ParameterDescription description,
                         std::function<bool(const std::string&)> set) {
  CHECK(Find(description.name) == nullptr) << description.name << " is declared twice";
  entries_.push_back({std::move(description), std::move(set)});
}

void ParameterTable::AddWhole(std::string_view name, const WholeRange& range, const WholeType& type,
                              std::function<void(uint64_t)> assign, std::string_view help) {
  WholeRange limits = range;
  if (limits.max == UINT64_MAX) limits.max = type.max;
  CHECK(limits.min <= limits.max && limits.max <= type.max) << "limits of " << name;
  Add({.name = std::string(name),
       .limits = WholeLimits(limits),
       .default_value = StrCat(type.otherwise),
       .help = std::string(help)},
      [limits, assign = std::move(assign)](const std::string& text) {
        uint64_t number = 0;
        if (!Parse(text, &number) || number < limits.min || number > limits.max) return false;
        assign(number);
        return true;
      });
}

void ParameterTable::Real(std::string_view name, const RealRange& range, double* value,
                          std::string_view help) {
  Add({.name = std::string(name),
       .limits = StrCat("a number from ", range.min, " to ", range.max),
       .default_value = StrCat(*value),
       .help = std::string(help)},
      [range, value](const std::string& text) {
        double number = 0;
        if (!Parse(text, &number) || !(number >= range.min && number <= range.max)) return false;
        *value = number;
        return true;
      });
}

void ParameterTable::Millis(std::string_view name, const DurationRange& range, Duration* value,
                            std::string_view help) {
  AddWhole(
      name, {WholeMillis(range.min), WholeMillis(range.max)}, {WholeMillis(*value), UINT64_MAX},
      [value](uint64_t number) { *value = std::chrono::milliseconds(number); }, help);
}

void ParameterTable::Flag(std::string_view name, bool* value, std::string_view help) {
  Add({.name = std::string(name),
       .limits = "true or false",
       .default_value = *value ? "true" : "false",
       .help = std::string(help)},
      [value](const std::string& text) {
        if (text != "true" && text != "false") return false;
        *value = text == "true";
        return true;
      });
}

void ParameterTable::Text(std::string_view name, std::string* value, std::string_view help) {
  Add({.name = std::string(name),
       .limits = "a text",
       .default_value = *value,
       .help = std::string(help)},
      [value](const std::string& text) {
        *value = text;
        return true;
      });
}

void ParameterTable::Text(std::string_view name, std::optional<std::string>* value,
                          std::string_view help) {
  Add({.name = std::string(name),
       .limits = "a text",
       .default_value = value->value_or(""),
       .help = std::string(help)},
      [value](const std::string& text) {
        *value = text;
        return true;
      });
}

void ParameterTable::Choice(std::string_view name, std::vector<std::string> choices,
                            std::string* value, std::string_view help) {
  std::string limits;
  for (const std::string& choice : choices) {
    const bool is_last = &choice == &choices.back();
    StrAppend(&limits, limits.empty() ? "" : (is_last ? " or " : ", "), choice);
  }
  Add({.name = std::string(name),
       .limits = std::move(limits),
       .default_value = *value,
       .help = std::string(help)},
      [known = std::move(choices), value](const std::string& text) {
        if (std::find(known.begin(), known.end(), text) == known.end()) return false;
        *value = text;
        return true;
      });
}

Status ParameterTable::Set(const std::map<std::string, std::string>& given) const {
  for (const auto& [name, text] : given) {
    const Entry* const entry = Find(name);
    if (entry == nullptr) {
      return InvalidArgument("unknown parameter '", name, "'; ", Names());
    }
    if (!entry->set(text)) {
      return InvalidArgument("parameter ", name, " is '", text, "'; it must be ",
                             entry->description.limits);
    }
  }
  for (const Entry& entry : entries_) {
    if (entry.description.required && !given.contains(entry.description.name)) {
      return InvalidArgument("the parameter '", entry.description.name,
                             "' is missing: ", entry.description.help);
    }
  }
  return OkStatus();
}

std::vector<ParameterDescription> ParameterTable::Describe() const {
  std::vector<ParameterDescription> all;
  for (const Entry& entry : entries_) all.push_back(entry.description);
  return all;
}

const ParameterTable::Entry* ParameterTable::Find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [name](const Entry& entry) {
    return entry.description.name == name;
  });
  return found == entries_.end() ? nullptr : &*found;
}

std::string ParameterTable::Names() const {
  if (entries_.empty()) return "its module has no parameters";
  std::string names = "its module has";
  for (const Entry& entry : entries_) {
    StrAppend(&names, &entry == &entries_.front() ? " " : ", ", entry.description.name);
  }
  return names;
}

}  // namespace neptune
