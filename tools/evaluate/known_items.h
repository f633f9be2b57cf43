// Known items of a linked corpus: pages asked by what links and headings call them, and by their
// short names.
//
//   kind     text that is asked
//   link     the text of links to the page, if it is neither title nor short name
//   heading  a heading of the page, if it is neither title nor short name
//   name     the short name, if it is not the title: `json` of `json - JSON encoder`
//
// A text is asked only if it names one page: no other page has it as title or short name, and, of a
// link or heading, no other page has it as a heading or as the text of a link to it. Texts are
// equal if they have the same key. A key has only words with a letter, so that `next`, `here`,
// `Section 9.1` and `Version 3.2` name many pages and are not asked.
//
// An asked text is held back: an index under test gets neither the links to the page nor the
// headings of it that have its key, else the measure would be circular. The body keeps it.
// The page must come first; the reciprocal rank of the page is the measure.
//
// Source: known-item search with anchor texts as questions [Craswell01].
// Departs from source: texts that name several pages are left out; the asked ones are held back.
// Threads: pure functions.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace search::tools {

enum class ItemKind : uint8_t { kLink = 0, kHeading = 1, kName = 2 };
inline constexpr size_t kItemKindCount = 3;
inline constexpr std::array<const char*, kItemKindCount> kItemKindNames = {"link", "heading",
                                                                           "name"};

// What a page is called.
struct NamedPage {
  std::string url;
  std::string title;
  std::string site;
  std::vector<std::string> headings;
  std::vector<std::string> link_texts;  // of links from other pages
};

struct KnownItemOptions {
  // At most this many pages of each site and kind. Default: seven sites of it give intervals of
  // about .02.
  size_t per_site_count_max = 300;
  // Words and bytes of a text. Defaults: longer ones are sentences, which hardly anyone types.
  size_t word_count_max = 6;
  size_t size_max = 80;
  uint64_t seed = 1;
};

struct KnownItem {
  ItemKind kind = ItemKind::kLink;
  std::string url;
  std::string text;  // as a person would type it
  std::string key;
  // The half in which settings are chosen; the other is held back and confirms.
  bool is_development = false;
};

// The words of the text that have a letter, in lower case with blanks between.
std::string NameKey(std::string_view text);

// `re` of `re - Regular expression operations`, `git-stash` of `git-stash(1)`; else the typed
// title.
std::string ShortName(const std::string& title);

// Draws for each kind pages of each site by a hash of seed and url, and one text of each: the same
// corpus and seed give the same items. All items of a page are in the same half.
std::vector<KnownItem> DrawKnownItems(const std::vector<NamedPage>& pages,
                                      const KnownItemOptions& options);

// Keys of texts that are held back from a page, by its url.
using HeldBackKeys = std::map<std::string, std::set<std::string>, std::less<>>;
HeldBackKeys KeysOf(const std::vector<KnownItem>& items);

}  // namespace search::tools
