// The only writer of HTML and XML: it escapes all text and closes every element it opens.
//
// Escaping cannot be forgotten: names of elements and attributes and trusted markup are literals
// checked at compile time (no scripts, no event handlers, no inline styles), and everything else is
// a value that is escaped. Attributes that contain addresses are omitted unless the address is a
// safe link.
//
// Source: WHATWG HTML 13.1 (void elements, escaping), XML 1.0 2.2 (characters), 2.4.
// No I/O.
// Threads: thread-compatible.
// Errors: none. Invalid UTF-8 and characters that the format forbids become U+FFFD.
// Limits: output is at most six times the text plus the markup.

#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace search::frontend {

namespace internal {
// Never defined: a call at compile time is the error message.
void MarkupNameIsNotAllowed();

consteval bool SameIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const char c = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] - 'A' + 'a') : a[i];
    if (c != b[i]) return false;
  }
  return true;
}

consteval bool IsName(std::string_view name) {
  if (name.empty()) return false;
  for (char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != ':') return false;
  }
  return true;
}
}  // namespace internal

// Name of an element, a literal; elements that run or embed code do not compile.
class TagName {
 public:
  consteval TagName(const char* literal) : name_(literal) {  // NOLINT: literals convert
    if (!internal::IsName(name_)) internal::MarkupNameIsNotAllowed();
    for (std::string_view refused : {"script", "style", "iframe", "object", "embed", "base"}) {
      if (internal::SameIgnoringCase(name_, refused)) internal::MarkupNameIsNotAllowed();
    }
  }
  std::string_view name() const { return name_; }

 private:
  std::string_view name_;
};

// Name of an attribute, a literal; event handlers and inline styles do not compile.
class AttributeName {
 public:
  consteval AttributeName(const char* literal)  // NOLINT: literals convert
      : name_(literal),
        holds_link_(name_ == "href" || name_ == "src" || name_ == "action" || name_ == "cite") {
    if (!internal::IsName(name_)) internal::MarkupNameIsNotAllowed();
    if (name_.size() > 2 && internal::SameIgnoringCase(name_.substr(0, 2), "on")) {
      internal::MarkupNameIsNotAllowed();
    }
    for (std::string_view refused : {"style", "srcdoc", "srcset", "ping", "formaction"}) {
      if (internal::SameIgnoringCase(name_, refused)) internal::MarkupNameIsNotAllowed();
    }
  }
  std::string_view name() const { return name_; }
  // True if the value is an address that users may follow.
  bool holds_link() const { return holds_link_; }

 private:
  std::string_view name_;
  bool holds_link_;
};

// Markup that is part of the program: a literal, written unescaped.
class TrustedMarkup {
 public:
  consteval explicit TrustedMarkup(const char* literal) : text_(literal) {}
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

// An attribute and a view of its value, for the length of the call that writes it.
struct Attribute {
  Attribute(AttributeName name, std::string_view value) : name(name), value(value) {}
  Attribute(AttributeName name, const char* value) : name(name), value(value) {}
  Attribute(AttributeName name, const std::string& value) : name(name), value(value) {}
  // An attribute without a value, present or not: {"autofocus", true}.
  Attribute(AttributeName name, bool present) : name(name), has_value(false), present(present) {}
  template <std::integral Number>
  Attribute(AttributeName name, Number number) : name(name) {
    char* const end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
    value = {digits, end};
  }
  Attribute(const Attribute&) = delete;  // the value may be a view of the digits
  Attribute& operator=(const Attribute&) = delete;

  AttributeName name;
  std::string_view value;
  bool has_value = true;
  bool present = true;
  char digits[20];  // of a number
};
using Attributes = std::initializer_list<Attribute>;

// True if pages may link to `url`: http, https, or a path, query or fragment of this site.
// Addresses with another scheme, a host after "//", spaces or control characters are not safe.
bool IsSafeLink(std::string_view url);

class MarkupWriter {
 public:
  enum class Syntax { kHtml, kXml };
  // `size`: bytes that the document is expected to have.
  explicit MarkupWriter(Syntax syntax, size_t size = 1024) : syntax_(syntax) {
    out_.reserve(size);
    open_.reserve(16);
  }
  MarkupWriter(const MarkupWriter&) = delete;
  MarkupWriter& operator=(const MarkupWriter&) = delete;

  void Open(TagName tag, Attributes attributes = {});
  // Closes the innermost open element. REQUIRES: there is one.
  void Close();
  // An element without content: void in HTML, self-closing in XML.
  void Empty(TagName tag, Attributes attributes = {});
  // Writes `text` escaped.
  void Text(std::string_view text);
  // Open, Text and Close in one call.
  void TextElement(TagName tag, std::string_view text, Attributes attributes = {});
  void Trusted(TrustedMarkup markup);

  // Returns the finished document and clears the writer. REQUIRES: every element is closed.
  std::string Take();

 private:
  void OpenTag(TagName tag, Attributes attributes);
  void Escape(std::string_view text);

  Syntax syntax_;
  std::string out_;
  std::vector<std::string_view> open_;
};

// Opens an element and closes it at the end of the scope.
class Element {
 public:
  Element(MarkupWriter& writer, TagName tag, Attributes attributes = {}) : writer_(writer) {
    writer_.Open(tag, attributes);
  }
  ~Element() { writer_.Close(); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

 private:
  MarkupWriter& writer_;
};

}  // namespace search::frontend
