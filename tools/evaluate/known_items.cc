#include "tools/evaluate/known_items.h"

#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/evaluate/columns.h"
#include "tools/evaluate/title_queries.h"

namespace search::tools {
namespace {

using neptune::StrCat;

constexpr std::string_view kBlanks = " \t\r\n";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c < 0; }

// Bytes of a sign at `at`, which separates words; 0 for a part of a word.
size_t SignSize(std::string_view text, size_t at) {
  if (text.substr(at).starts_with("\xC2\xA0")) return 2;  // the blank that does not break
  if (text.substr(at).starts_with("\xE2\x80")) return 3;  // dashes, quotation marks, dots
  return IsLetter(text[at]) || IsDigit(text[at]) || text[at] == '_' ? 0 : 1;
}

uint64_t HashOf(const std::string& text, uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

// Drops an empty pair of brackets at the end: `g_free ()` is typed `g_free`.
std::string TypedText(const std::string& text) {
  std::string typed = TypedTitle(text);
  if (typed.ends_with("()")) typed.resize(typed.size() - 2);
  if (typed.ends_with(' ')) typed.pop_back();
  return typed;
}

// A file name that a page uses as the text of a link is not asked.
bool IsFileName(std::string_view text) {
  return text.find(".htm") != std::string_view::npos || text.find("://") != std::string_view::npos;
}

// Pages that each key names: by titles and short names alone, or by all that a page is called.
class PagesByKey {
 public:
  PagesByKey(const std::vector<NamedPage>& pages, bool by_names_alone) {
    for (size_t i = 0; i < pages.size(); ++i) {
      Add(pages[i].title, i);
      Add(ShortName(pages[i].title), i);
      if (by_names_alone) continue;
      for (const std::string& heading : pages[i].headings) Add(heading, i);
      for (const std::string& text : pages[i].link_texts) Add(text, i);
    }
  }

  bool NamesOne(const std::string& key) const {
    const auto found = pages_.find(key);
    return found != pages_.end() && found->second.has_value();
  }

 private:
  void Add(const std::string& text, size_t page) {
    const auto [found, is_new] = pages_.try_emplace(NameKey(text), page);
    if (!is_new && found->second != page) found->second = std::nullopt;
  }

  std::map<std::string, std::optional<size_t>> pages_;  // nothing: several
};

// Draws the items of one kind.
class Draw {
 public:
  Draw(ItemKind kind, const PagesByKey& keys, const KnownItemOptions& options)
      : kind_(kind), keys_(keys), options_(options) {}

  void Offer(const NamedPage& page) {
    const std::string title_key = NameKey(page.title);
    const std::string name = ShortName(page.title);
    const std::string name_key = NameKey(name);
    if (kind_ == ItemKind::kName) {
      if (name != TypedTitle(page.title)) OfferText(page, name);
    } else {
      const auto& texts = kind_ == ItemKind::kLink ? page.link_texts : page.headings;
      for (const std::string& text : texts) {
        const std::string key = NameKey(text);
        if (key != title_key && key != name_key) OfferText(page, TypedText(text));
      }
    }
    Close(page);
  }

  void MoveTo(std::vector<KnownItem>* items) {
    for (auto& [site, drawn] : by_site_) {
      std::sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) {
        return std::pair(a.hash, a.item.url) < std::pair(b.hash, b.item.url);
      });
      if (drawn.size() > options_.per_site_count_max) drawn.resize(options_.per_site_count_max);
      for (Drawn& one : drawn) items->push_back(std::move(one.item));
    }
  }

 private:
  struct Drawn {
    uint64_t hash = 0;
    KnownItem item;
  };

  void OfferText(const NamedPage& page, std::string text) {
    const size_t word_count = Columns(text, kBlanks).size();
    if (word_count == 0 || word_count > options_.word_count_max) return;
    if (text.size() > options_.size_max || IsFileName(text)) return;
    std::string key = NameKey(text);
    if (key.empty() || !keys_.NamesOne(key)) return;
    const uint64_t hash = HashOf(StrCat(page.url, " ", key), options_.seed);
    const auto order = std::pair(hash, text);
    if (best_.has_value() && std::pair(best_->hash, best_->item.text) <= order) return;
    best_ = Drawn{hash, {kind_, page.url, std::move(text), std::move(key), false}};
  }

  // Takes the best text of the page.
  void Close(const NamedPage& page) {
    if (!best_.has_value()) return;
    best_->hash = HashOf(page.url, options_.seed);
    best_->item.is_development = HashOf(page.url, options_.seed + 1) % 2 == 0;
    by_site_[page.site].push_back(std::move(*best_));
    best_.reset();
  }

  const ItemKind kind_;
  const PagesByKey& keys_;
  const KnownItemOptions& options_;
  std::optional<Drawn> best_;  // of the page that is offered
  std::map<std::string, std::vector<Drawn>> by_site_;
};

}  // namespace

std::string NameKey(std::string_view text) {
  std::string key;
  std::string word;
  bool has_letter = false;
  const auto end_word = [&] {
    if (has_letter) key += key.empty() ? word : " " + word;
    word.clear();
    has_letter = false;
  };
  for (size_t i = 0; i < text.size();) {
    if (const size_t size = SignSize(text, i); size > 0) {
      end_word();
      i += size;
      continue;
    }
    const char c = text[i++];
    has_letter |= IsLetter(c);
    word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  end_word();
  return key;
}

std::string ShortName(const std::string& title) {
  const std::string typed = TypedTitle(title);
  size_t end = typed.size();
  for (const std::string_view separator : {" \xE2\x80\x94 ", " \xE2\x80\x93 ", " - ", " -- "}) {
    end = std::min(end, typed.find(separator));
  }
  // The section of a manual page: git-stash(1).
  const size_t bracket = typed.find('(');
  if (bracket != std::string::npos && bracket > 0 && bracket + 1 < typed.size() &&
      IsDigit(typed[bracket + 1])) {
    end = std::min(end, bracket);
  }
  return typed.substr(0, end);
}

std::vector<KnownItem> DrawKnownItems(const std::vector<NamedPage>& pages,
                                      const KnownItemOptions& options) {
  const PagesByKey names(pages, /*by_names_alone=*/true);
  const PagesByKey texts(pages, /*by_names_alone=*/false);
  std::vector<KnownItem> items;
  for (const ItemKind kind : {ItemKind::kLink, ItemKind::kHeading, ItemKind::kName}) {
    Draw draw(kind, kind == ItemKind::kName ? names : texts, options);
    for (const NamedPage& page : pages) draw.Offer(page);
    draw.MoveTo(&items);
  }
  return items;
}

HeldBackKeys KeysOf(const std::vector<KnownItem>& items) {
  HeldBackKeys keys;
  for (const KnownItem& item : items) keys[item.url].insert(item.key);
  return keys;
}

}  // namespace search::tools
