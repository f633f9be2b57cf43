#include "index/html/html_reader.h"

#include <strings.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <utility>

#include "index/html/html_boilerplate.h"
#include "index/html/html_elements.h"
#include "index/html/html_tree.h"
#include "index/html/structured_text.h"
#include "index/html/utf8.h"
#include "neptune/base/utf8.h"

namespace search::html {
namespace {

using neptune::StatusOr;

constexpr size_t kCharsetSearchSize = 2048;

bool IsElement(const GumboNode& node) { return node.type == GUMBO_NODE_ELEMENT; }

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

// Writes the words and the structure of one part of the page.
class PageWriter {
 public:
  explicit PageWriter(HtmlPage* page) : page_(page) {}

  void Write(const GumboNode& part) {
    Walk(
        part, [this](const GumboNode& node) { return Enter(node); },
        [this](const GumboNode& node) { Leave(node); });
    page_->is_cut |= text_.is_full();
    page_->text = text_.TakeText();
    page_->structure = text_.TakeStructure();
  }

 private:
  bool Enter(const GumboNode& node) {
    if (text_.is_full()) return false;
    if (!IsElement(node)) {
      AppendText(node);
      return false;
    }
    if (IsHtmlBoilerplate(node)) {
      if (!IsInvisibleHtml(node)) text_.EndWord();
      return false;
    }
    Separate(node);
    const GumboTag tag = node.v.element.tag;
    if (tag == GUMBO_TAG_PRE) ++pre_depth_;
    if (IsHtmlHeading(tag) && heading_ == nullptr) Begin(node, &heading_, &heading_begin_);
    const bool leads = tag == GUMBO_TAG_A && HasHtmlAttribute(node, "href");
    if (leads) Begin(node, &link_, &link_begin_);
    OpenElement(node);
    return true;
  }

  void Leave(const GumboNode& node) {
    const GumboTag tag = node.v.element.tag;
    if (tag == GUMBO_TAG_PRE) --pre_depth_;
    if (&node == heading_) EndHeading();
    if (&node == link_) EndLink();
    text_.Close(&node);
    Separate(node);
  }

  // Ends the line or the word that was before the element, or is in it.
  void Separate(const GumboNode& node) {
    switch (HtmlSeparationOf(node)) {
      case HtmlSeparation::kBlock:
        text_.Break();
        break;
      case HtmlSeparation::kLine:
        text_.Break(/*ends_block=*/false);
        break;
      case HtmlSeparation::kSpace:
        text_.Space();
        break;
      case HtmlSeparation::kWord:
        text_.EndWord();
        break;
      case HtmlSeparation::kNone:
        break;
    }
  }

  void OpenElement(const GumboNode& node) {
    const std::optional<ElementKind> kind = StructureKindOf(node);
    if (!kind) return;
    if (*kind == ElementKind::kLink) {
      std::string href = CollapseSpace(HtmlAttribute(node, "href"));
      if (LeadsElsewhere(href)) text_.Open(&node, *kind, std::move(href));
      return;
    }
    text_.Open(&node, *kind, ColumnSpanOf(node, *kind));
  }

  void AppendText(const GumboNode& node) {
    const bool text = node.type == GUMBO_NODE_TEXT || node.type == GUMBO_NODE_WHITESPACE ||
                      node.type == GUMBO_NODE_CDATA;
    if (text) text_.Append(node.v.text.text, pre_depth_ > 0);
  }

  void Begin(const GumboNode& node, const GumboNode** element, size_t* begin) {
    *element = &node;
    *begin = text_.size();
  }
  // The text since `begin` on one line.
  std::string TextSince(size_t begin, size_t size_max) const {
    std::string text = CollapseSpace(neptune::TruncateUtf8(text_.From(begin), 2 * size_max));
    text.resize(neptune::TruncateUtf8(text, size_max).size());
    return text;
  }

  void EndHeading() {
    heading_ = nullptr;
    std::string text = TextSince(heading_begin_, HtmlPageLimits::kTitleSizeMax);
    if (!text.empty() && page_->headings.size() < HtmlPageLimits::kHeadingsMax) {
      page_->headings.push_back(std::move(text));
    }
  }

  static bool LeadsElsewhere(std::string_view href) {
    return !href.empty() && href[0] != '#' && href.size() <= HtmlPageLimits::kUrlSizeMax;
  }
  void EndLink() {
    HtmlLink link{.href = CollapseSpace(HtmlAttribute(*link_, "href")),
                  .text = TextSince(link_begin_, HtmlPageLimits::kAnchorTextSizeMax)};
    link_ = nullptr;
    if (LeadsElsewhere(link.href) && page_->links.size() < HtmlPageLimits::kLinksMax) {
      page_->links.push_back(std::move(link));
    }
  }

  HtmlPage* const page_;
  StructuredText text_{HtmlPageLimits::kTextSizeMax};
  int pre_depth_ = 0;
  const GumboNode* heading_ = nullptr;
  size_t heading_begin_ = 0;
  const GumboNode* link_ = nullptr;
  size_t link_begin_ = 0;
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
