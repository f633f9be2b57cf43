#include "index/html/html_reader.h"

#include <strings.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "index/html/html_boilerplate.h"
#include "index/html/html_tree.h"
#include "index/html/utf8.h"
#include "neptune/base/utf8.h"

namespace search::html {
namespace {

using neptune::StatusOr;

constexpr size_t kCharsetSearchSize = 2048;

// Plain text: white space collapsed, paragraphs and rows on lines of their own.
class TextWriter {
 public:
  explicit TextWriter(size_t size_max) : size_max_(size_max) {}

  void Append(std::string_view text, bool preserve) {
    for (size_t i = 0; i < text.size() && !is_full_; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      const bool no_break_space = text.substr(i, 2) == "\xC2\xA0";
      if (no_break_space) ++i;
      if (preserve && byte == '\n') {
        Break();
      } else if (byte <= 0x20 || byte == 0x7F || no_break_space) {
        Space(preserve);
      } else {
        Put(text[i]);
      }
    }
  }

  void Space(bool every = false) {
    if (break_ && !every) return;
    space_count_ = every ? std::min(space_count_ + 1, 40) : 1;
  }
  void Break() {
    break_ = true;
    space_count_ = 0;
  }

  bool is_full() const { return is_full_; }
  std::string Take() {
    text_.resize(neptune::TruncateUtf8(text_, size_max_).size());
    return std::move(text_);
  }

 private:
  void Put(char c) {
    if (text_.size() >= size_max_ + 4) {
      is_full_ = true;
      return;
    }
    if (!text_.empty() && break_) text_ += '\n';
    if (!text_.empty()) text_.append(space_count_, ' ');
    break_ = false;
    space_count_ = 0;
    text_ += c;
  }

  const size_t size_max_;
  std::string text_;
  bool break_ = false;
  int space_count_ = 0;
  bool is_full_ = false;
};

bool IsElement(const GumboNode& node) { return node.type == GUMBO_NODE_ELEMENT; }

bool IsHeading(GumboTag tag) { return tag >= GUMBO_TAG_H1 && tag <= GUMBO_TAG_H6; }

bool BreaksLine(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_ADDRESS:
    case GUMBO_TAG_ARTICLE:
    case GUMBO_TAG_ASIDE:
    case GUMBO_TAG_BLOCKQUOTE:
    case GUMBO_TAG_BR:
    case GUMBO_TAG_CAPTION:
    case GUMBO_TAG_CENTER:
    case GUMBO_TAG_DD:
    case GUMBO_TAG_DETAILS:
    case GUMBO_TAG_DIV:
    case GUMBO_TAG_DL:
    case GUMBO_TAG_DT:
    case GUMBO_TAG_FIELDSET:
    case GUMBO_TAG_FIGCAPTION:
    case GUMBO_TAG_FIGURE:
    case GUMBO_TAG_FORM:
    case GUMBO_TAG_HEADER:
    case GUMBO_TAG_HR:
    case GUMBO_TAG_LI:
    case GUMBO_TAG_MAIN:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_P:
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_SECTION:
    case GUMBO_TAG_SUMMARY:
    case GUMBO_TAG_TABLE:
    case GUMBO_TAG_TR:
    case GUMBO_TAG_UL:
      return true;
    default:
      return IsHeading(tag);
  }
}

// Traverses in document order without recursion. Calls enter(node), which returns whether to visit
// the children, and afterwards leave(node).
template <typename Enter, typename Leave>
void Walk(const GumboNode& root, const Enter& enter, const Leave& leave) {
  struct Frame {
    const GumboNode* node;
    unsigned next_child;
  };
  if (!enter(root)) return;
  std::vector<Frame> stack = {{&root, 0}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next_child == HtmlChildCount(*frame.node)) {
      leave(*frame.node);
      stack.pop_back();
      continue;
    }
    const GumboNode& child = HtmlChild(*frame.node, frame.next_child++);
    if (enter(child)) stack.push_back({&child, 0});
  }
}

// Writes the words of one part of the page.
class PageWriter {
 public:
  explicit PageWriter(HtmlPage* page) : page_(page) {}

  void Write(const GumboNode& part) {
    Walk(
        part, [this](const GumboNode& node) { return Enter(node); },
        [this](const GumboNode& node) { Leave(node); });
    page_->is_cut |= text_.is_full();
    page_->text = text_.Take();
  }

 private:
  bool Enter(const GumboNode& node) {
    if (text_.is_full()) return false;
    if (!IsElement(node)) {
      AppendText(node);
      return false;
    }
    if (IsHtmlBoilerplate(node)) return false;
    const GumboTag tag = node.v.element.tag;
    if (BreaksLine(tag)) text_.Break();
    if (tag == GUMBO_TAG_TD || tag == GUMBO_TAG_TH) Separate();
    if (tag == GUMBO_TAG_BR) Separate();
    if (tag == GUMBO_TAG_PRE) ++pre_depth_;
    if (IsHeading(tag) && heading_ == nullptr) BeginHeading(node);
    if (tag == GUMBO_TAG_A) BeginLink(node);
    return true;
  }

  void Leave(const GumboNode& node) {
    const GumboTag tag = node.v.element.tag;
    if (BreaksLine(tag)) text_.Break();
    if (tag == GUMBO_TAG_PRE) --pre_depth_;
    if (&node == heading_) EndHeading();
    if (&node == link_) EndLink();
  }

  void AppendText(const GumboNode& node) {
    const bool text = node.type == GUMBO_NODE_TEXT || node.type == GUMBO_NODE_WHITESPACE ||
                      node.type == GUMBO_NODE_CDATA;
    if (!text) return;
    const std::string_view words = node.v.text.text;
    text_.Append(words, pre_depth_ > 0);
    if (heading_ != nullptr) Capture(words, HtmlPageLimits::kTitleSizeMax, &heading_text_);
    if (link_ != nullptr) Capture(words, HtmlPageLimits::kAnchorTextSizeMax, &link_text_);
  }

  // Appends a space to every text that is being collected.
  void Separate() {
    text_.Space();
    heading_text_ += heading_ != nullptr ? " " : "";
    link_text_ += link_ != nullptr && link_text_.size() < 1000 ? " " : "";
  }

  // Slightly more than is kept, because spaces are removed.
  static void Capture(std::string_view words, size_t size_max, std::string* out) {
    if (out->size() < 2 * size_max) *out += neptune::TruncateUtf8(words, 2 * size_max);
  }

  void BeginHeading(const GumboNode& node) {
    heading_ = &node;
    heading_text_.clear();
  }
  void EndHeading() {
    heading_ = nullptr;
    std::string text = CollapseSpace(heading_text_);
    text.resize(neptune::TruncateUtf8(text, HtmlPageLimits::kTitleSizeMax).size());
    if (!text.empty() && page_->headings.size() < HtmlPageLimits::kHeadingsMax) {
      page_->headings.push_back(std::move(text));
    }
  }

  void BeginLink(const GumboNode& node) {
    if (!HasHtmlAttribute(node, "href")) return;
    link_ = &node;
    link_text_.clear();
  }
  void EndLink() {
    HtmlLink link{.href = CollapseSpace(HtmlAttribute(*link_, "href")),
                  .text = CollapseSpace(link_text_)};
    link_ = nullptr;
    link.text.resize(neptune::TruncateUtf8(link.text, HtmlPageLimits::kAnchorTextSizeMax).size());
    const bool elsewhere = !link.href.empty() && link.href[0] != '#';
    if (elsewhere && link.href.size() <= HtmlPageLimits::kUrlSizeMax &&
        page_->links.size() < HtmlPageLimits::kLinksMax) {
      page_->links.push_back(std::move(link));
    }
  }

  HtmlPage* const page_;
  TextWriter text_{HtmlPageLimits::kTextSizeMax};
  int pre_depth_ = 0;
  const GumboNode* heading_ = nullptr;
  std::string heading_text_;
  const GumboNode* link_ = nullptr;
  std::string link_text_;
};

// Elements found in one traversal of the whole tree.
struct Landmarks {
  const GumboNode* title = nullptr;
  const GumboNode* body = nullptr;
  const GumboNode* main = nullptr;
  bool is_redirect = false;
};

bool IsRefresh(const GumboNode& node) {
  if (strcasecmp(std::string(HtmlAttribute(node, "http-equiv")).c_str(), "refresh") != 0) {
    return false;
  }
  std::string content(HtmlAttribute(node, "content"));
  std::transform(content.begin(), content.end(), content.begin(),
                 [](unsigned char c) { return static_cast<char>(tolower(c)); });
  return content.find("url=") != std::string::npos;
}

Landmarks FindLandmarks(const GumboNode& root) {
  Landmarks found;
  const auto enter = [&found](const GumboNode& node) {
    if (!IsElement(node)) return false;
    const GumboTag tag = node.v.element.tag;
    if (tag == GUMBO_TAG_TITLE && found.title == nullptr && found.body == nullptr) {
      found.title = &node;
    }
    if (tag == GUMBO_TAG_BODY && found.body == nullptr) found.body = &node;
    if (tag == GUMBO_TAG_META) found.is_redirect |= IsRefresh(node);
    const bool main = tag == GUMBO_TAG_MAIN || HtmlAttribute(node, "role") == "main";
    if (main && found.main == nullptr) found.main = &node;
    return tag != GUMBO_TAG_SCRIPT;
  };
  Walk(root, enter, [](const GumboNode&) {});
  return found;
}

std::string TextOf(const GumboNode& node, size_t size_max) {
  std::string text;
  const auto enter = [&](const GumboNode& inner) {
    if (IsElement(inner)) return true;
    const bool is_text = inner.type == GUMBO_NODE_TEXT || inner.type == GUMBO_NODE_WHITESPACE;
    if (is_text && text.size() < 2 * size_max) text += inner.v.text.text;
    return false;
  };
  Walk(node, enter, [](const GumboNode&) {});
  text = CollapseSpace(text);
  text.resize(neptune::TruncateUtf8(text, size_max).size());
  return text;
}

std::string Decode(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  if (IsValidUtf8(bytes)) return std::string(bytes);
  std::string head(bytes.substr(0, kCharsetSearchSize));
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return static_cast<char>(tolower(c)); });
  for (const char* name : {"iso-8859-1", "windows-1252", "latin1", "us-ascii"}) {
    if (head.find(std::string("charset=") + name) != std::string::npos ||
        head.find(std::string("charset=\"") + name) != std::string::npos) {
      return Windows1252ToUtf8(bytes);
    }
  }
  return ReplaceInvalidUtf8(bytes);
}

}  // namespace

StatusOr<HtmlPage> ReadHtml(std::string_view bytes, const HtmlOutlineLimits& limits,
                            size_t memory_max) {
  HtmlPage page;
  page.is_cut = bytes.size() > kHtmlSizeMax;
  const std::string html = Decode(bytes.substr(0, kHtmlSizeMax));
  const std::string_view bounded(html.data(), BoundedHtmlSize(html, limits));
  page.is_cut |= bounded.size() < html.size();
  NEPTUNE_ASSIGN_OR_RETURN(const auto tree, HtmlTree::Parse(bounded, memory_max));
  const Landmarks found = FindLandmarks(*tree->root());
  page.is_redirect = found.is_redirect;
  const GumboNode* part = found.main != nullptr ? found.main : found.body;
  if (part != nullptr) PageWriter(&page).Write(*part);
  if (page.text.empty() && found.main != nullptr && found.body != nullptr) {
    PageWriter(&page).Write(*found.body);
  }
  if (found.title != nullptr) page.title = TextOf(*found.title, HtmlPageLimits::kTitleSizeMax);
  if (page.title.empty() && !page.headings.empty()) page.title = page.headings[0];
  return page;
}

}  // namespace search::html
