// The HTML pages. They work without JavaScript, on small screens, in dark mode, by keyboard and in
// print.
//
// Source: WCAG 2.1 AA for contrast, focus, landmarks and labels. frontend/render/README.md
//   describes how a page is built.
// Threads: pure functions. Errors: none.

#pragma once

#include <string>

#include "frontend/model/answer.h"
#include "frontend/model/site.h"

namespace search::frontend::html {

std::string ResultPage(const SearchAnswer& answer, const Site& site);
std::string HomePage(const Site& site);
std::string HelpPage(const Site& site);
std::string ErrorPage(const ErrorAnswer& error, const Site& site);
std::string DocumentPage(const CachedDocument& document, const Site& site);

}  // namespace search::frontend::html
