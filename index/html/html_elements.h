// What the elements of HTML mean for text: which ones end a line or a word, and what they are in
// the structure of a document.
//
// Source: WHATWG HTML, 15.3 (the rendering section: display of elements).
// Threads: pure functions. REQUIRES: `node` is an element.

#pragma once

#include <gumbo.h>

#include <cstdint>
#include <optional>
#include <string>

#include "index/html/document_structure.h"

namespace search::html {

enum class HtmlSeparation : uint8_t {
  kNone,   // inside a line, for instance <b>
  kWord,   // shown apart, so that words do not go on: pictures, controls, two links in a row
  kSpace,  // a cell of a table
  kLine,   // <br>
  kBlock,  // a paragraph, an item, a row
};

// Separation before and after the element.
HtmlSeparation HtmlSeparationOf(const GumboNode& node);

bool IsHtmlHeading(GumboTag tag);

// The element's kind in a structure; nullopt if it has none and only its content counts.
std::optional<ElementKind> StructureKindOf(const GumboNode& node);

// The value of a cell over several columns, "" for others.
std::string ColumnSpanOf(const GumboNode& node, ElementKind kind);

}  // namespace search::html
