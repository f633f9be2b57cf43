// Converts wikitext to plain text by one simplification for all pages.
//
// Kept: the words of paragraphs, lists, headings and links. Left out: templates {{ }}, tables {|
//   |}, comments, magic words (__TOC__), links to files, pictures and categories, and all between
//   tags of references, formulas, galleries and timelines. Other tags are removed, and the text
//   between them is kept. Nothing is expanded: the text that a template would produce is missing.
//   Markup that is opened and never closed is left out to the end of its paragraph.
//
// The syntax as Wikipedia's help pages describe it.
// Threads: pure functions. Errors: none; any valid UTF-8 is accepted.
// Limits: linear time: at most 64 searches for a missing closing mark; the end of a link or tag is
//   searched in the next 2 KiB; CorpusLimits.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace search::tools {

struct WikiLink {
  std::string target;  // title of a page, without '#...'
  std::string text;
};

struct PlainWikitext {
  std::string text;  // paragraphs separated by line breaks
  std::vector<std::string> headings;
  std::vector<WikiLink> links;
  bool is_cut = false;
};

// `hidden_prefixes`: namespaces in lower case; links to them are dropped, such as files and
// categories.
PlainWikitext ReadWikitext(std::string_view wikitext,
                           const std::vector<std::string>& hidden_prefixes);

// Normalises a link target to a page title: '_' as spaces, spaces collapsed, first letter in upper
// case (ASCII), no '#...' and no leading ':'.
std::string WikiTitle(std::string_view target);

// Decodes numeric and common named HTML character references; keeps others.
std::string DecodeEntities(std::string_view text);

}  // namespace search::tools
