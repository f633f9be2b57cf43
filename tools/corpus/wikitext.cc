#include "tools/corpus/wikitext.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "index/html/utf8.h"
#include "neptune/base/utf8.h"
#include "tools/corpus/corpus_document.h"

namespace search::tools {
namespace {

constexpr size_t kNotFound = std::string_view::npos;
// Maximum number of searches to the end of the page for a missing closing mark.
constexpr int kUnclosedMax = 64;
constexpr size_t kEntitySizeMax = 10;
constexpr size_t kLinkSizeMax = 2048;
constexpr size_t kTagSizeMax = 2048;

constexpr std::array<std::string_view, 9> kHiddenTags = {
    "ref", "references", "math", "gallery", "timeline", "imagemap", "score", "style", "script"};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
std::string LowerOf(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}
bool IsNameChar(char c) { return (Lower(c) >= 'a' && Lower(c) <= 'z') || (c >= '0' && c <= '9'); }

// Decodes "&NAME;"; returns false if the name is unknown.
bool AppendEntity(std::string_view name, std::string* out) {
  static constexpr std::pair<std::string_view, std::string_view> kNamed[] = {
      {"amp", "&"},         {"lt", "<"},         {"gt", ">"},         {"quot", "\""},
      {"apos", "'"},        {"nbsp", " "},       {"ndash", "\u2013"}, {"mdash", "\u2014"},
      {"hellip", "\u2026"}, {"thinsp", " "},     {"ensp", " "},       {"emsp", " "},
      {"middot", "\u00B7"}, {"times", "\u00D7"}, {"minus", "\u2212"}, {"deg", "\u00B0"},
      {"shy", ""},          {"zwj", ""},         {"zwnj", ""}};
  for (const auto& [known, meaning] : kNamed) {
    if (name == known) return out->append(meaning), true;
  }
  if (name.size() < 2 || name[0] != '#') return false;
  const bool is_hex = Lower(name[1]) == 'x';
  uint32_t code = 0;
  for (const char c : name.substr(is_hex ? 2 : 1)) {
    const char lower = Lower(c);
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && !(is_hex && lower >= 'a' && lower <= 'f')) return false;
    code = code * (is_hex ? 16 : 10) + static_cast<uint32_t>(is_digit ? c - '0' : lower - 'a' + 10);
    if (code > 0x10FFFF) return false;
  }
  if (code < 32 || (code >= 0xD800 && code < 0xE000)) return false;
  neptune::AppendUtf8(code, out);
  return true;
}

// Removes the markup of one page, front to back.
class Stripper {
 public:
  Stripper(std::string_view in, const std::vector<std::string>& hidden_prefixes)
      : in_(in), hidden_prefixes_(hidden_prefixes) {}

  PlainWikitext Run() {
    while (at_ < in_.size()) {
      if (!StripMarkup()) page_.text.push_back(in_[at_++]);
    }
    FinishText();
    return std::move(page_);
  }

 private:
  bool Sees(std::string_view what) const { return in_.substr(at_).starts_with(what); }
  bool IsLineStart() const { return page_.text.empty() || page_.text.back() == '\n'; }

  // Returns false at an ordinary character.
  bool StripMarkup() {
    switch (in_[at_]) {
      case '<':
        return StripTag();
      case '{':
        if (Sees("{{")) return SkipNested("{{", "}}");
        return Sees("{|") && IsLineStart() && SkipNested("{|", "|}");
      case '[':
        return Sees("[[") ? StripLink() : StripOuterLink();
      case '\'':
        return Sees("''") && Skip(in_.find_first_not_of('\'', at_));
      case '_':
        return StripMagicWord();
      case '=':
        return IsLineStart() && StripHeading();
      case '*':
      case '#':
      case ':':
      case ';':
        return IsLineStart() && Skip(in_.find_first_not_of("*#:; ", at_));
      default:
        return false;
    }
  }

  bool Skip(size_t to) {
    at_ = std::min(to, in_.size());
    return true;
  }
  // The first of these characters after `begin`, if it is near enough to belong to what began
  // there.
  size_t FindNear(const char* characters, size_t begin) const {
    return in_.substr(0, std::min(in_.size(), begin + kLinkSizeMax))
        .find_first_of(characters, begin);
  }
  size_t ParagraphEnd() const { return in_.find("\n\n", at_); }

  // Skips to after `close`, including nested constructs.
  bool SkipNested(std::string_view open, std::string_view close) {
    return Skip(NestedEnd(open, close));
  }

  size_t NestedEnd(std::string_view open, std::string_view close) {
    if (unclosed_count_ >= kUnclosedMax) return std::min(ParagraphEnd(), in_.size());
    int depth = 0;
    for (size_t at = at_; (at = in_.find_first_of(kBrackets, at)) != kNotFound;) {
      const std::string_view rest = in_.substr(at);
      // "|}}" ends a template in a table, not the table.
      if (rest.starts_with(close) && !(close == "|}" && rest.starts_with("|}}"))) {
        at += close.size();
        if (--depth == 0) return at;
      } else if (rest.starts_with(open)) {
        at += open.size();
        ++depth;
      } else {
        ++at;
      }
    }
    ++unclosed_count_;
    return std::min(ParagraphEnd(), in_.size());
  }

  bool StripTag() {
    if (Sees("<!--")) {
      const size_t end = Find("-->");
      return Skip(end == kNotFound ? ParagraphEnd() : end + 3);
    }
    size_t name_begin = at_ + 1;
    const bool is_end = name_begin < in_.size() && in_[name_begin] == '/';
    if (is_end) ++name_begin;
    size_t name_end = name_begin;
    while (name_end < in_.size() && IsNameChar(in_[name_end])) ++name_end;
    const size_t tag_end =
        in_.substr(0, std::min(in_.size(), name_end + kTagSizeMax)).find('>', name_end);
    if (name_end == name_begin || tag_end == kNotFound) return false;
    const std::string name = LowerOf(in_.substr(name_begin, name_end - name_begin));
    const bool is_hidden =
        std::find(kHiddenTags.begin(), kHiddenTags.end(), name) != kHiddenTags.end();
    const bool is_empty = in_[tag_end - 1] == '/';
    at_ = tag_end + 1;
    if (is_hidden && !is_empty && !is_end) {
      const size_t end = FindEndTag(name);
      at_ = end == kNotFound ? std::min(ParagraphEnd(), in_.size()) : end;
    }
    if (name == "br" || name == "p" || name == "div" || name == "li") page_.text.push_back('\n');
    return true;
  }

  size_t Find(std::string_view what) {
    if (unclosed_count_ >= kUnclosedMax) return kNotFound;
    const size_t found = in_.find(what, at_);
    unclosed_count_ += found == kNotFound ? 1 : 0;
    return found;
  }

  // Position after "</name>".
  size_t FindEndTag(const std::string& name) {
    if (unclosed_count_ >= kUnclosedMax) return kNotFound;
    for (size_t at = at_; (at = in_.find("</", at)) != kNotFound; at += 2) {
      if (LowerOf(in_.substr(at + 2, name.size())) != name) continue;
      const size_t end = in_.find('>', at);
      return end == kNotFound ? end : end + 1;
    }
    ++unclosed_count_;
    return kNotFound;
  }

  bool IsHidden(std::string_view target) const {
    const size_t colon = target.find(':');
    if (colon == kNotFound || colon == 0) return false;
    const std::string prefix = LowerOf(html::CollapseSpace(target.substr(0, colon)));
    return std::find(hidden_prefixes_.begin(), hidden_prefixes_.end(), prefix) !=
           hidden_prefixes_.end();
  }

  // [[target|text]]: reading continues in the text, so that markup in it is removed too.
  bool StripLink() {
    const size_t begin = at_ + 2;
    const size_t target_end = FindNear("|]\n[", begin);
    if (target_end == kNotFound || in_[target_end] == '\n' || in_[target_end] == '[') {
      return Skip(begin);
    }
    const std::string_view target = in_.substr(begin, target_end - begin);
    if (IsHidden(target)) return SkipNested("[[", "]]");
    const bool has_text = in_[target_end] == '|';
    const size_t text_begin = has_text ? target_end + 1 : begin;
    const size_t text_end = has_text ? FindNear("]\n", text_begin) : target_end;
    if (text_end == kNotFound || in_[text_end] == '\n') return Skip(text_begin);
    std::string text = PlainLine(in_.substr(text_begin, text_end - text_begin));
    std::string title = WikiTitle(target);
    page_.text += text;
    if (!title.empty()) page_.links.push_back({std::move(title), std::move(text)});
    return Skip(text_end + (in_.substr(text_end).starts_with("]]") ? 2 : 1));
  }

  // [http://place words]: the words.
  bool StripOuterLink() {
    const std::string_view rest = in_.substr(at_ + 1);
    if (!rest.starts_with("http://") && !rest.starts_with("https://") && !rest.starts_with("//")) {
      return false;
    }
    const size_t end = FindNear("]\n", at_);
    if (end == kNotFound || in_[end] == '\n') return false;
    const size_t blank = FindNear(" ", at_);
    if (blank < end) page_.text += PlainLine(in_.substr(blank + 1, end - blank - 1));
    return Skip(end + 1);
  }

  bool StripMagicWord() {
    if (!Sees("__")) return false;
    size_t end = at_ + 2;
    while (end < in_.size() && in_[end] >= 'A' && in_[end] <= 'Z') ++end;
    return end > at_ + 2 && in_.substr(end).starts_with("__") && Skip(end + 2);
  }

  bool StripHeading() {
    const size_t end = std::min(in_.find('\n', at_), in_.size());
    const std::string_view line = in_.substr(at_, end - at_);
    const size_t begin = line.find_first_not_of('=');
    const size_t last = line.find_last_not_of("= \t\r");
    if (begin == kNotFound || last == kNotFound || last < begin ||
        line.find('=', last) == kNotFound) {
      return false;
    }
    std::string heading = DecodeEntities(PlainLine(line.substr(begin, last + 1 - begin)));
    heading = html::CollapseSpace(heading);
    page_.text += heading;
    if (!heading.empty() && page_.headings.size() < CorpusLimits::kHeadingsMax) {
      heading = neptune::TruncateUtf8(heading, CorpusLimits::kTitleSizeMax);
      page_.headings.push_back(std::move(heading));
    }
    return Skip(end);
  }

  // Position after the tag at `at`, if there is one.
  static size_t TagEnd(std::string_view in, size_t at) {
    if (in[at] != '<') return kNotFound;
    const size_t end = in.substr(0, std::min(in.size(), at + kTagSizeMax)).find('>', at);
    return end == kNotFound ? end : end + 1;
  }

  // Text of a link or heading without quotes, brackets and tags.
  static std::string PlainLine(std::string_view in) {
    std::string out;
    for (size_t at = 0; at < in.size();) {
      if (in.substr(at).starts_with("''")) {
        at = std::min(in.find_first_not_of('\'', at), in.size());
      } else if (const size_t end = TagEnd(in, at); end != kNotFound) {
        at = end;
      } else if (in[at] == '[' || in[at] == ']' || in[at] == '{' || in[at] == '}') {
        ++at;
      } else {
        out.push_back(in[at++]);
      }
    }
    return out;
  }

  // Decodes characters, collapses the spaces of each line and removes empty lines.
  void FinishText() {
    const std::string decoded = DecodeEntities(page_.text);
    std::string text;
    std::string_view rest = decoded;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string line = html::CollapseSpace(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.empty()) continue;
      if (!text.empty()) text.push_back('\n');
      text += line;
    }
    page_.is_cut = text.size() > CorpusLimits::kTextSizeMax;
    text.resize(neptune::TruncateUtf8(text, CorpusLimits::kTextSizeMax).size());
    page_.text = std::move(text);
    for (WikiLink& link : page_.links) link.text = html::CollapseSpace(DecodeEntities(link.text));
  }

  static constexpr std::string_view kBrackets = "{}[]|";

  const std::string_view in_;
  const std::vector<std::string>& hidden_prefixes_;
  size_t at_ = 0;
  int unclosed_count_ = 0;
  PlainWikitext page_;
};

}  // namespace

std::string DecodeEntities(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '&') {
      const size_t end = text.substr(0, std::min(text.size(), at + kEntitySizeMax)).find(';', at);
      if (end != kNotFound && AppendEntity(text.substr(at + 1, end - at - 1), &out)) {
        at = end + 1;
        continue;
      }
    }
    out.push_back(text[at++]);
  }
  return out;
}

std::string WikiTitle(std::string_view target) {
  if (target.starts_with(':')) target.remove_prefix(1);
  std::string title = DecodeEntities(target.substr(0, target.find('#')));
  std::replace(title.begin(), title.end(), '_', ' ');
  title = html::CollapseSpace(title);
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z')
    title[0] = static_cast<char>(title[0] - 32);
  return title;
}

PlainWikitext ReadWikitext(std::string_view wikitext,
                           const std::vector<std::string>& hidden_prefixes) {
  return Stripper(wikitext, hidden_prefixes).Run();
}

}  // namespace search::tools
