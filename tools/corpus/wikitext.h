// Wikitext to plain text, by a simplification that is the same for every page.
//
// Kept: the words of paragraphs, lists, headings and links. Left out: templates {{ }}, tables {|
//   |}, comments, magic words (__TOC__), links to files, pictures and categories, and all between
//   tags of references, formulas, galleries and timelines. Other tags are taken off, what is
//   between them stays. Nothing is expanded: what a template would have said is not there. What is
//   opened and never closed is left out to the end of its paragraph.
//
// The syntax as Wikipedia's help pages describe it.
// Threads: pure functions. Errors: none; any valid UTF-8 is accepted.
// Limits: linear time: what is never closed is looked for 64 times, the end of a link or tag in the
//   next 2 KiB; CorpusLimits.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace search::tools {

struct WikiLink {
  std::string target;  // title of a page, without what follows '#'
  std::string text;
};

struct PlainWikitext {
  std::string text;  // paragraphs separated by line breaks
  std::vector<std::string> headings;
  std::vector<WikiLink> links;
  bool is_cut = false;
};

// `hidden_prefixes`: namespaces, in lower case, links to which are left out, such as those of files
// and categories.
PlainWikitext ReadWikitext(std::string_view wikitext,
                           const std::vector<std::string>& hidden_prefixes);

// The title that a link means: '_' as spaces, spaces collapsed, first letter in upper case (ASCII),
// no '#...' and no leading ':'.
std::string WikiTitle(std::string_view target);

// HTML's named and numeric characters that running text has, decoded; others stay.
std::string DecodeEntities(std::string_view text);

}  // namespace search::tools
