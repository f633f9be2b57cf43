#include "tools/mtrr/spec_edit.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;

// A range of the text, [begin, end).
struct Span {
  size_t begin = 0;
  size_t end = 0;
};

// "name: value" or "name { ... }" at one level.
struct Field {
  std::string name;
  Span whole;
  Span value;  // with quotes; of a message, what is between its braces
  bool is_message = false;
};

// Splits one level of a message into its fields.
class FieldReader {
 public:
  FieldReader(std::string_view text, Span span) : text_(text), at_(span.begin), end_(span.end) {}

  StatusOr<std::vector<Field>> ReadAll() {
    std::vector<Field> fields;
    while (true) {
      SkipBlanks();
      if (at_ == end_) return fields;
      NEPTUNE_ASSIGN_OR_RETURN(Field field, ReadOne());
      fields.push_back(std::move(field));
    }
  }

 private:
  char Here() const { return at_ < end_ ? text_[at_] : '\0'; }
  Status Malformed(std::string_view what) const {
    size_t line = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i) line += text_[i] == '\n';
    return InvalidArgument("line ", line, ": ", what);
  }

  // Between fields ',' and ';' mean nothing.
  void SkipBlanks() {
    while (at_ < end_) {
      const char c = Here();
      if (c == '#') {
        while (at_ < end_ && Here() != '\n') ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c)) || c == ',' || c == ';') {
        ++at_;
      } else {
        return;
      }
    }
  }

  static bool IsWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
           c == '+';
  }

  Status SkipQuoted() {
    const char quote = Here();
    for (++at_; at_ < end_ && Here() != quote; ++at_) {
      if (Here() == '\n') return Malformed("a quote is not closed");
      if (Here() == '\\') ++at_;
    }
    if (at_ >= end_) return Malformed("a quote is not closed");
    ++at_;
    return neptune::OkStatus();
  }

  // Range from an opening bracket to just after the matching closing one.
  Status SkipBrackets() {
    std::string open;
    do {
      const char c = Here();
      if (at_ >= end_) return Malformed("a bracket is not closed");
      if (c == '"' || c == '\'') {
        NEPTUNE_RETURN_IF_ERROR(SkipQuoted());
        continue;
      }
      if (c == '#') {
        while (at_ < end_ && Here() != '\n') ++at_;
        continue;
      }
      if (c == '{' || c == '[' || c == '<') open += c;
      if (c == '}' || c == ']' || c == '>') {
        const char opening = c == '}' ? '{' : c == ']' ? '[' : '<';
        if (open.empty() || open.back() != opening) return Malformed("brackets do not match");
        open.pop_back();
      }
      ++at_;
    } while (!open.empty());
    return neptune::OkStatus();
  }

  StatusOr<Field> ReadOne() {
    Field field;
    field.whole.begin = at_;
    while (IsWord(Here())) field.name += text_[at_++];
    if (field.name.empty()) return Malformed("expected a field");
    SkipBlanks();
    if (Here() == ':') ++at_;
    SkipBlanks();
    field.value.begin = at_;
    const char first = Here();
    if (first == '{' || first == '<' || first == '[') {
      NEPTUNE_RETURN_IF_ERROR(SkipBrackets());
      field.is_message = first != '[';
    } else if (first == '"' || first == '\'') {
      NEPTUNE_RETURN_IF_ERROR(SkipQuoted());
    } else {
      while (IsWord(Here())) ++at_;
    }
    if (at_ == field.value.begin) return Malformed(StrCat(field.name, " has no value"));
    field.value.end = field.whole.end = at_;
    if (field.is_message) field.value = {field.value.begin + 1, field.value.end - 1};
    return field;
  }

  const std::string_view text_;
  size_t at_;
  const size_t end_;
};

// A value without its quotes; names of services need no escapes.
std::string Unquoted(std::string_view text, Span value) {
  std::string_view raw = text.substr(value.begin, value.end - value.begin);
  if (raw.size() >= 2 && (raw.front() == '"' || raw.front() == '\'')) {
    raw = raw.substr(1, raw.size() - 2);
  }
  return std::string(raw);
}

struct FoundService {
  Span body;
  std::vector<Field> fields;
};

StatusOr<FoundService> FindService(std::string_view text, std::string_view service) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<Field> fields,
                           FieldReader(text, {0, text.size()}).ReadAll());
  std::optional<FoundService> found;
  for (const Field& field : fields) {
    if (field.name != "services" || !field.is_message) continue;
    NEPTUNE_ASSIGN_OR_RETURN(std::vector<Field> inner, FieldReader(text, field.value).ReadAll());
    for (const Field& one : inner) {
      if (one.name != "name" || Unquoted(text, one.value) != service) continue;
      if (found) return InvalidArgument("service '", service, "' is in the spec twice");
      found = FoundService{field.value, inner};
      break;
    }
  }
  if (!found) return neptune::NotFound("the spec has no service '", service, "'");
  return *std::move(found);
}

// Includes the whole line, if nothing else is on it.
Span WithItsLine(std::string_view text, Span span) {
  size_t begin = span.begin;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  size_t end = span.end;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
  const bool alone =
      (begin == 0 || text[begin - 1] == '\n') && end < text.size() && text[end] == '\n';
  return alone ? Span{begin, end + 1} : Span{begin, span.end};
}

// Position after a comment on the same line, if there is one.
size_t BehindRemark(std::string_view text, size_t at) {
  const size_t next = text.find_first_not_of(" \t", at);
  if (next == std::string_view::npos || text[next] != '#') return at;
  return std::min(text.find('\n', next), text.size());
}

// Indentation of the service's fields; empty if they are on one line.
std::string Indentation(std::string_view text, const FoundService& service) {
  for (const Field& field : service.fields) {
    size_t begin = field.whole.begin;
    while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
    if (begin > 0 && text[begin - 1] == '\n') {
      return "\n" + std::string(text.substr(begin, field.whole.begin - begin));
    }
  }
  return " ";
}

}  // namespace

StatusOr<std::string> EditSpec(std::string_view text, std::string_view service,
                               const ThreadSettings& settings) {
  NEPTUNE_ASSIGN_OR_RETURN(const FoundService found, FindService(text, service));
  const std::string before = Indentation(text, found);
  std::string threads;
  for (const auto& [name, count] : settings.classes) {
    StrAppend(&threads, before, "threads { service_class: \"", name, "\" count: ", count, " }");
  }
  const bool has_concurrency =
      std::any_of(found.fields.begin(), found.fields.end(),
                  [](const Field& field) { return field.name == "concurrency"; });
  const std::string concurrency = StrCat("concurrency: ", settings.concurrency);
  // The field after which the settings are inserted: concurrency if present, else the name.
  const std::string anchor = has_concurrency ? "concurrency" : "name";
  std::string edited;
  size_t copied = 0;
  bool anchored = false;
  for (const Field& field : found.fields) {
    if (field.name == "threads") {
      const Span gone = WithItsLine(text, field.whole);
      edited += text.substr(copied, gone.begin - copied);
      copied = gone.end;
    } else if (field.name == anchor && !anchored) {
      anchored = true;
      edited += text.substr(copied, field.whole.begin - copied);
      // On a single line, a comment would swallow the text after it.
      copied = before == " " ? field.whole.end : BehindRemark(text, field.whole.end);
      const std::string_view remark = text.substr(field.whole.end, copied - field.whole.end);
      if (has_concurrency) {
        StrAppend(&edited, concurrency, remark);
      } else {
        const Span name = field.whole;
        StrAppend(&edited, text.substr(name.begin, name.end - name.begin), remark, before,
                  concurrency);
      }
      edited += threads;
    }
  }
  edited += text.substr(copied);
  return edited;
}

}  // namespace search::tools
