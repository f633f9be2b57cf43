// Checks that a page is well-formed, safe and accessible; for tests.
//
// Source: WHATWG HTML, WCAG 2.1.
// Threads: pure functions.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace search::frontend {

// Returns all problems of the page, one sentence each: elements that a parser had to add or close,
// foreign scripts, event handlers, inline styles, unsafe links, duplicate ids, inputs without a
// label, headings that skip a level, not exactly one h1, title or main.
std::vector<std::string> HtmlProblems(std::string_view html);

// Elements and attribute names in order, without text and values: two pages with the same skeleton
// differ only in text.
std::string HtmlSkeleton(std::string_view html);

// The text of all elements `tag`, in order.
std::vector<std::string> HtmlTexts(std::string_view html, std::string_view tag);

// The values of all attributes `name`, in order.
std::vector<std::string> HtmlAttributes(std::string_view html, std::string_view name);

}  // namespace search::frontend
