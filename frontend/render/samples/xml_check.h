// A strict XML parser for tests: every feed reader can parse what it accepts.
//
// Source: libxml2 without recovery.
// Threads: thread-compatible.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace search::frontend {

class XmlDocument {
 public:
  // Errors: INVALID_ARGUMENT with line and reason if `xml` is not well-formed.
  static neptune::StatusOr<std::unique_ptr<XmlDocument>> Parse(std::string_view xml);
  ~XmlDocument();

  // Texts of the nodes that an XPath expression selects, in document order. Prefixes are atom, os
  // (OpenSearch), problem.
  std::vector<std::string> Values(const char* xpath) const;

  // The first of Values; empty if there is none.
  std::string Value(const char* xpath) const;

  // Elements and attribute names in order, without text and values.
  std::string Skeleton() const;

 private:
  class Rep;
  explicit XmlDocument(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace search::frontend
