#include "frontend/render/samples/html_check.h"

#include <gumbo.h>

#include <functional>
#include <map>
#include <set>

#include "frontend/render/html/static_files.h"
#include "frontend/render/markup/markup_writer.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrAppend;
using neptune::StrCat;

class ParsedPage {
 public:
  explicit ParsedPage(std::string_view html)
      : output_(gumbo_parse_with_options(&kGumboDefaultOptions, html.data(), html.size())) {}
  ~ParsedPage() { gumbo_destroy_output(&kGumboDefaultOptions, output_); }
  ParsedPage(const ParsedPage&) = delete;
  ParsedPage& operator=(const ParsedPage&) = delete;

  // Visits every node below the document, in document order.
  void Visit(const std::function<void(const GumboNode&)>& visit) const {
    VisitBelow(*output_->document, output_->document->v.document.children, visit);
  }

 private:
  static void VisitBelow(const GumboNode& node, const GumboVector& children,
                         const std::function<void(const GumboNode&)>& visit) {
    for (unsigned int i = 0; i < children.length; ++i) {
      const GumboNode& child = *static_cast<const GumboNode*>(children.data[i]);
      visit(child);
      if (child.type == GUMBO_NODE_ELEMENT || child.type == GUMBO_NODE_TEMPLATE) {
        VisitBelow(child, child.v.element.children, visit);
      }
    }
  }

  GumboOutput* output_;
};

std::string TagOf(const GumboNode& node) {
  GumboStringPiece piece = node.v.element.original_tag;
  if (piece.length == 0) return gumbo_normalized_tagname(node.v.element.tag);
  gumbo_tag_from_original_text(&piece);
  return std::string(piece.data, piece.length);
}

// Name of the end tag that closed the element; if it was closed implicitly, that of another
// element.
std::string EndTagOf(const GumboNode& node) {
  GumboStringPiece piece = node.v.element.original_end_tag;
  if (piece.length == 0) return {};
  gumbo_tag_from_original_text(&piece);
  return std::string(piece.data, piece.length);
}

std::string AttributeOf(const GumboNode& node, const char* name) {
  const GumboAttribute* attribute = gumbo_get_attribute(&node.v.element.attributes, name);
  return attribute == nullptr ? "" : attribute->value;
}

std::string TextOf(const GumboNode& node) {
  if (node.type != GUMBO_NODE_ELEMENT) return node.v.text.text;
  std::string text;
  const GumboVector& children = node.v.element.children;
  for (unsigned int i = 0; i < children.length; ++i) {
    text += TextOf(*static_cast<const GumboNode*>(children.data[i]));
  }
  return text;
}

bool IsVoid(const std::string& tag) {
  static const std::set<std::string> kVoid = {"input", "link", "meta", "br", "hr", "img"};
  return kVoid.contains(tag);
}

int CountOf(std::string_view what, std::string_view text) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// Checks the constraints of the whole page while visiting its elements.
class PageChecker {
 public:
  void Check(const GumboNode& node) {
    if (node.type == GUMBO_NODE_COMMENT) Problem("a comment in the page");
    if (node.type != GUMBO_NODE_ELEMENT) return;
    const std::string tag = TagOf(node);
    CheckForm(node, tag);
    CheckAttributes(node, tag);
    CheckHeading(tag);
    const bool is_foreign_script = tag == "script" && TextOf(node) != CompletionScriptText();
    if (is_foreign_script || tag == "style" || tag == "iframe" || tag == "object" || tag == "img") {
      Problem(StrCat("element ", tag));
    }
    if (tag == "label") labelled_ids_.insert(AttributeOf(node, "for"));
    if (tag == "input" && AttributeOf(node, "type") != "hidden") {
      input_ids_.push_back(AttributeOf(node, "id"));
    }
    if ((tag == "a" || tag == "button" || tag == "title") && TextOf(node).empty() &&
        AttributeOf(node, "aria-label").empty()) {
      Problem(StrCat("element ", tag, " without a name"));
    }
    if (tag == "html" && AttributeOf(node, "lang").empty()) Problem("html without lang");
    ++count_[tag];
  }

  std::vector<std::string> Finish(std::string_view html) {
    if (count_["form"] != CountOf("</form>", html)) Problem("element form is not closed");
    for (const char* tag : {"html", "head", "title", "body", "main", "h1"}) {
      if (count_[tag] != 1) Problem(StrCat(count_[tag], " elements ", tag, ", must be one"));
    }
    for (const std::string& id : input_ids_) {
      if (!labelled_ids_.contains(id)) Problem(StrCat("input '", id, "' without label"));
    }
    return std::move(problems_);
  }

 private:
  void Problem(std::string what) { problems_.push_back(std::move(what)); }

  void CheckForm(const GumboNode& node, const std::string& tag) {
    if (node.parse_flags & GUMBO_INSERTION_BY_PARSER) {
      Problem(StrCat("element ", tag, " added by the parser"));
    }
    const bool is_svg = node.v.element.tag_namespace == GUMBO_NAMESPACE_SVG;
    // The parser does not record end tags of forms; Finish compares their counts.
    if (!IsVoid(tag) && !is_svg && tag != "form" && EndTagOf(node) != tag) {
      Problem(StrCat("element ", tag, " is not closed"));
    }
  }

  void CheckAttributes(const GumboNode& node, const std::string& tag) {
    const GumboVector& attributes = node.v.element.attributes;
    for (unsigned int i = 0; i < attributes.length; ++i) {
      const auto& attribute = *static_cast<const GumboAttribute*>(attributes.data[i]);
      const std::string_view name = attribute.name;
      const std::string_view value = attribute.value;
      if (name.starts_with("on") || name == "style") {
        Problem(StrCat("attribute ", name, " of ", tag));
      }
      if ((name == "href" || name == "src" || name == "action") && !IsSafeLink(value)) {
        Problem(StrCat("unsafe link '", value, "' of ", tag));
      }
      if (name == "id" && !ids_.insert(std::string(value)).second) {
        Problem(StrCat("id '", value, "' is used twice"));
      }
    }
  }

  void CheckHeading(const std::string& tag) {
    if (tag.size() != 2 || tag[0] != 'h' || tag[1] < '1' || tag[1] > '6') return;
    const int level = tag[1] - '0';
    if (level > heading_level_ + 1) Problem(StrCat("heading ", tag, " skips a level"));
    heading_level_ = level;
  }

  std::vector<std::string> problems_;
  std::map<std::string, int> count_;
  std::set<std::string> ids_;
  std::set<std::string> labelled_ids_;
  std::vector<std::string> input_ids_;
  int heading_level_ = 0;
};

}  // namespace

std::vector<std::string> HtmlProblems(std::string_view html) {
  PageChecker checker;
  ParsedPage(html).Visit([&](const GumboNode& node) { checker.Check(node); });
  return checker.Finish(html);
}

std::string HtmlSkeleton(std::string_view html) {
  std::string skeleton;
  ParsedPage(html).Visit([&](const GumboNode& node) {
    if (node.type == GUMBO_NODE_COMMENT) skeleton += "comment\n";
    if (node.type != GUMBO_NODE_ELEMENT) return;
    skeleton += TagOf(node);
    const GumboVector& attributes = node.v.element.attributes;
    for (unsigned int i = 0; i < attributes.length; ++i) {
      StrAppend(&skeleton, " ", static_cast<const GumboAttribute*>(attributes.data[i])->name);
    }
    skeleton += '\n';
  });
  return skeleton;
}

std::vector<std::string> HtmlTexts(std::string_view html, std::string_view tag) {
  std::vector<std::string> texts;
  ParsedPage(html).Visit([&](const GumboNode& node) {
    if (node.type == GUMBO_NODE_ELEMENT && TagOf(node) == tag) texts.push_back(TextOf(node));
  });
  return texts;
}

std::vector<std::string> HtmlAttributes(std::string_view html, std::string_view name) {
  std::vector<std::string> values;
  ParsedPage(html).Visit([&](const GumboNode& node) {
    if (node.type != GUMBO_NODE_ELEMENT) return;
    const GumboAttribute* attribute =
        gumbo_get_attribute(&node.v.element.attributes, std::string(name).c_str());
    if (attribute != nullptr) values.emplace_back(attribute->value);
  });
  return values;
}

}  // namespace search::frontend
