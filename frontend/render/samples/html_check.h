// What a page must keep to be well-formed, safe and usable without a mouse or eyes; for tests.
//
// Source: WHATWG HTML, WCAG 2.1. Threads: pure functions.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace search::frontend {

// Everything wrong with the page, one sentence each: elements that a parser had to add or close,
// scripts but the pages' own, event handlers, inline styles, unsafe links, repeated ids, inputs without label,
// headings that skip a level, not exactly one h1, title or main.
std::vector<std::string> HtmlProblems(std::string_view html);

// Elements and names of their attributes in order, without any text or value: two pages of one
// skeleton differ only in what they say.
std::string HtmlSkeleton(std::string_view html);

// The text of all elements `tag`, in order.
std::vector<std::string> HtmlTexts(std::string_view html, std::string_view tag);

// The values of all attributes `name`, in order.
std::vector<std::string> HtmlAttributes(std::string_view html, std::string_view name);

}  // namespace search::frontend
