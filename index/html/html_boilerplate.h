// Detects the parts of a page that every page of its site repeats: navigation, search, footers.
//
// Uses the names that documentation generators assign (Sphinx, DocBook, gtk-doc, MediaWiki,
// javadoc, qdoc, rustdoc, Boost).
// Threads: pure function.

#pragma once

#include <gumbo.h>

namespace search::html {

// True if the element and everything in it is skipped. REQUIRES: `node` is an element.
bool IsHtmlBoilerplate(const GumboNode& node);

// True for skipped elements that a browser never shows, so that a word may go on after them.
// REQUIRES: `node` is an element.
bool IsInvisibleHtml(const GumboNode& node);

}  // namespace search::html
