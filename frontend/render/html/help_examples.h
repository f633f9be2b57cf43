// Queries that the help page explains and the home page suggests.
//
// Source: none. Layer: frontend, render. Threads: immutable.

#pragma once

#include <span>
#include <string_view>

namespace search::frontend::html {

struct HelpExample {
  std::string_view query;
  // Ends the sentence "finds documents that ...".
  std::string_view meaning;
};

std::span<const HelpExample> HelpExamples();

}  // namespace search::frontend::html
