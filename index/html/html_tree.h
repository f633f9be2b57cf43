// A parsed HTML page in an arena of bounded size, freed at once.
//
// Threads: thread-compatible.
// Why an arena: the parser library has no memory limit and frees its tree recursively, which
//   overflows the stack on a deep page. Here a refused allocation leaves the parser by longjmp (it
//   is C and holds nothing but arena memory), and the tree is never freed node by node.
// Limits: memory_max bytes, after which Parse returns RESOURCE_EXHAUSTED.

#pragma once

#include <gumbo.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include "neptune/base/status.h"

namespace search::html {

class HtmlTree {
 public:
  // REQUIRES: `html` is valid UTF-8 and outlives the tree.
  static neptune::StatusOr<std::unique_ptr<HtmlTree>> Parse(std::string_view html,
                                                            size_t memory_max);
  ~HtmlTree();
  HtmlTree(const HtmlTree&) = delete;
  HtmlTree& operator=(const HtmlTree&) = delete;

  const GumboNode* root() const { return root_; }  // <html>

 private:
  class Arena;

  explicit HtmlTree(size_t memory_max);

  std::unique_ptr<Arena> arena_;
  const GumboNode* root_ = nullptr;
};

// The attribute's value, or "" if the element has none. REQUIRES: `node` is an element.
std::string_view HtmlAttribute(const GumboNode& node, const char* name);
bool HasHtmlAttribute(const GumboNode& node, const char* name);

// Number of children of an element, 0 for other nodes; and the child with that index.
unsigned HtmlChildCount(const GumboNode& node);
const GumboNode& HtmlChild(const GumboNode& node, unsigned index);

}  // namespace search::html
