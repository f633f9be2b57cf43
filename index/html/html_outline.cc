#include "index/html/html_outline.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <unordered_map>

namespace search::html {
namespace {

// Maximum number of distinct names that are counted individually; elements with later names are
// counted as never closed.
constexpr size_t kNamesMax = 4096;
// Maximum number of <html> and <body> tags: they merge their attributes into those of the first
// one.
constexpr uint32_t kRootTagsMax = 64;

template <size_t N>
bool Contains(const std::array<std::string_view, N>& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

constexpr auto kVoid = std::to_array<std::string_view>(
    {"area",   "base",  "basefont", "bgsound", "br",     "col",   "command",
     "embed",  "frame", "hr",       "image",   "img",    "input", "isindex",
     "keygen", "link",  "meta",     "param",   "source", "track", "wbr"});
static_assert(std::is_sorted(kVoid.begin(), kVoid.end()));

constexpr auto kEndImplied = std::to_array<std::string_view>(
    {"body", "colgroup", "dd", "dt",  "head",  "html", "li",    "optgroup", "option", "p",
     "rb",   "rp",       "rt", "rtc", "tbody", "td",   "tfoot", "th",       "thead",  "tr"});
static_assert(std::is_sorted(kEndImplied.begin(), kEndImplied.end()));

constexpr auto kRawText = std::to_array<std::string_view>(
    {"iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"});
static_assert(std::is_sorted(kRawText.begin(), kRawText.end()));

// Start tags that end foreign content (SVG, MathML), and those that hold HTML inside it.
constexpr auto kEndsForeign = std::to_array<std::string_view>({"annotation-xml",
                                                               "b",
                                                               "big",
                                                               "blockquote",
                                                               "body",
                                                               "br",
                                                               "center",
                                                               "code",
                                                               "dd",
                                                               "desc",
                                                               "div",
                                                               "dl",
                                                               "dt",
                                                               "em",
                                                               "embed",
                                                               "font",
                                                               "foreignobject",
                                                               "h1",
                                                               "h2",
                                                               "h3",
                                                               "h4",
                                                               "h5",
                                                               "h6",
                                                               "head",
                                                               "hr",
                                                               "i",
                                                               "img",
                                                               "li",
                                                               "listing",
                                                               "menu",
                                                               "meta",
                                                               "nobr",
                                                               "ol",
                                                               "p",
                                                               "pre",
                                                               "ruby",
                                                               "s",
                                                               "small",
                                                               "span",
                                                               "strike",
                                                               "strong",
                                                               "sub",
                                                               "sup",
                                                               "table",
                                                               "title",
                                                               "tt",
                                                               "u",
                                                               "ul"});
static_assert(std::is_sorted(kEndsForeign.begin(), kEndsForeign.end()));

struct Tag {
  std::string name;
  bool closes = false;
  bool self_closing = false;
  uint32_t attribute_count = 0;
  size_t end = 0;  // after the '>'
};

class Scanner {
 public:
  Scanner(std::string_view html, const HtmlOutlineLimits& limits) : html_(html), limits_(limits) {}

  size_t Run() {
    while (at_ < html_.size()) {
      const size_t open = html_.find('<', at_);
      if (open == std::string_view::npos) return html_.size();
      at_ = open;
      if (!Step()) return open;
    }
    return html_.size();
  }

 private:
  // Skips the markup that begins with the '<' at at_; false if it exceeds a limit.
  bool Step() {
    const std::string_view rest = html_.substr(at_);
    if (rest.starts_with("<!--")) return PassComment();
    if (rest.starts_with("<![CDATA[")) {
      if (at_ >= closes_ignored_until_) closes_ignored_until_ = Find("]]>", at_);
      at_ += 9;
      return true;
    }
    if (rest.size() < 2) return at_ = html_.size(), true;
    const bool closes = rest[1] == '/';
    const size_t name = closes ? 2 : 1;
    if (name < rest.size() && isalpha(static_cast<unsigned char>(rest[name])) != 0) {
      return Count(ReadTag(closes));
    }
    const bool bogus_comment = rest[1] == '!' || rest[1] == '?' || closes;
    at_ = bogus_comment ? std::min(html_.size(), Find(">", at_) + 1) : at_ + 1;
    return true;
  }

  bool PassComment() {
    // "<!-->" and "<!--->" are complete comments.
    const size_t end = Find("-->", at_ + 2);
    const size_t odd_end = html_.substr(0, end).find("--!>", std::min(end, at_ + 4));
    at_ = std::min(html_.size(), Find(">", std::min(end, odd_end)) + 1);
    return true;
  }

  size_t Find(std::string_view what, size_t from) const {
    return std::min(html_.size(), html_.find(what, std::min(from, html_.size())));
  }

  Tag ReadTag(bool closes) const {
    Tag tag;
    tag.closes = closes;
    size_t i = at_ + (closes ? 2 : 1);
    while (i < html_.size() && !IsSpace(html_[i]) && html_[i] != '>' && html_[i] != '/') {
      tag.name += static_cast<char>(tolower(static_cast<unsigned char>(html_[i++])));
    }
    ReadAttributes(i, &tag);
    return tag;
  }

  // Follows the tokenizer's states before, in and after attribute names and values.
  void ReadAttributes(size_t i, Tag* tag) const {
    while (i < html_.size() && html_[i] != '>') {
      if (IsSpace(html_[i]) || html_[i] == '/') {
        tag->self_closing = html_[i] == '/' && i + 1 < html_.size() && html_[i + 1] == '>';
        ++i;
        continue;
      }
      ++tag->attribute_count;
      ++i;  // a name may begin with '='
      while (i < html_.size() && !EndsName(html_[i])) ++i;
      while (i < html_.size() && IsSpace(html_[i])) ++i;
      if (i < html_.size() && html_[i] == '=') i = PassValue(i + 1);
    }
    tag->end = std::min(html_.size(), i + 1);
  }

  size_t PassValue(size_t i) const {
    while (i < html_.size() && IsSpace(html_[i])) ++i;
    if (i >= html_.size()) return i;
    if (html_[i] == '"' || html_[i] == '\'') {
      return std::min(html_.size(), Find(html_.substr(i, 1), i + 1) + 1);
    }
    while (i < html_.size() && !IsSpace(html_[i]) && html_[i] != '>') ++i;
    return i;
  }

  static bool IsSpace(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
  }
  static bool EndsName(char c) { return IsSpace(c) || c == '/' || c == '>' || c == '='; }

  bool Count(const Tag& tag) {
    if (tag.attribute_count > limits_.attributes_max) return false;
    if (tag.closes) {
      Close(tag.name);
    } else if (!Open(tag)) {
      return false;
    }
    work_ += depth_ + 1;
    if (work_ > limits_.work_max) return false;
    at_ = tag.end;
    if (!tag.closes && Contains(kRawText, tag.name)) PassRawText(tag);
    return true;
  }

  void Close(const std::string& name) {
    if (name == "svg" || name == "math") in_foreign_ = false;
    const auto found = open_.find(name);
    if (at_ < closes_ignored_until_ || found == open_.end() || found->second == 0) return;
    --found->second;
    --depth_;
  }

  bool Open(const Tag& tag) {
    if ((tag.name == "body" || tag.name == "html") && ++root_tags_ > kRootTagsMax) return false;
    if (Contains(kEndsForeign, tag.name)) in_foreign_ = false;
    if (tag.name == "svg" || tag.name == "math") in_foreign_ = foreign_seen_ = true;
    if (Contains(kVoid, tag.name) || Contains(kEndImplied, tag.name)) return true;
    if (in_foreign_ && tag.self_closing) return true;
    if (open_.size() < kNamesMax || open_.contains(tag.name)) ++open_[tag.name];
    return ++depth_ <= limits_.depth_max;
  }

  // Outside foreign content, tags in a raw text element are ignored. After foreign content they may
  // be real: then openings count, and closings do not.
  void PassRawText(const Tag& tag) {
    if (!foreign_seen_) {
      at_ = FindClose(tag.name, at_);
    } else if (at_ >= closes_ignored_until_) {
      closes_ignored_until_ = FindClose(tag.name, at_);
    }
  }

  // Position of the next "</name", in any case, or the end.
  size_t FindClose(std::string_view name, size_t from) const {
    for (size_t i = Find("</", from); i < html_.size(); i = Find("</", i + 2)) {
      const std::string_view found = html_.substr(i + 2, name.size());
      if (found.size() == name.size() &&
          std::equal(found.begin(), found.end(), name.begin(),
                     [](char a, char b) { return tolower(static_cast<unsigned char>(a)) == b; })) {
        return i;
      }
    }
    return html_.size();
  }

  const std::string_view html_;
  const HtmlOutlineLimits limits_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
  uint64_t work_ = 0;
  uint32_t root_tags_ = 0;
  bool in_foreign_ = false;
  bool foreign_seen_ = false;
  size_t closes_ignored_until_ = 0;
  std::unordered_map<std::string, uint32_t> open_;
};

}  // namespace

size_t BoundedHtmlSize(std::string_view html, const HtmlOutlineLimits& limits) {
  return Scanner(html, limits).Run();
}

}  // namespace search::html
