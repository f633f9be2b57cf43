#include "index/html/html_elements.h"

#include <charconv>
#include <string_view>

#include "index/html/html_tree.h"
#include "neptune/base/strings.h"

namespace search::html {
namespace {

bool IsBlockTag(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_ADDRESS:
    case GUMBO_TAG_ARTICLE:
    case GUMBO_TAG_ASIDE:
    case GUMBO_TAG_BLOCKQUOTE:
    case GUMBO_TAG_BODY:
    case GUMBO_TAG_CAPTION:
    case GUMBO_TAG_CENTER:
    case GUMBO_TAG_DD:
    case GUMBO_TAG_DETAILS:
    case GUMBO_TAG_DIR:
    case GUMBO_TAG_DIV:
    case GUMBO_TAG_DL:
    case GUMBO_TAG_DT:
    case GUMBO_TAG_FIELDSET:
    case GUMBO_TAG_FIGCAPTION:
    case GUMBO_TAG_FIGURE:
    case GUMBO_TAG_FORM:
    case GUMBO_TAG_HEADER:
    case GUMBO_TAG_HGROUP:
    case GUMBO_TAG_HR:
    case GUMBO_TAG_LEGEND:
    case GUMBO_TAG_LI:
    case GUMBO_TAG_LISTING:
    case GUMBO_TAG_MAIN:
    case GUMBO_TAG_MENU:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_P:
    case GUMBO_TAG_PLAINTEXT:
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_SECTION:
    case GUMBO_TAG_SUMMARY:
    case GUMBO_TAG_TABLE:
    case GUMBO_TAG_TBODY:
    case GUMBO_TAG_TFOOT:
    case GUMBO_TAG_THEAD:
    case GUMBO_TAG_TR:
    case GUMBO_TAG_UL:
    case GUMBO_TAG_XMP:
      return true;
    default:
      return IsHtmlHeading(tag);
  }
}

// Elements of a line that may be a part of a word.
bool IsPhrasingTag(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_A:
    case GUMBO_TAG_ABBR:
    case GUMBO_TAG_ACRONYM:
    case GUMBO_TAG_B:
    case GUMBO_TAG_BDI:
    case GUMBO_TAG_BDO:
    case GUMBO_TAG_BIG:
    case GUMBO_TAG_CITE:
    case GUMBO_TAG_CODE:
    case GUMBO_TAG_DATA:
    case GUMBO_TAG_DEL:
    case GUMBO_TAG_DFN:
    case GUMBO_TAG_EM:
    case GUMBO_TAG_FONT:
    case GUMBO_TAG_I:
    case GUMBO_TAG_INS:
    case GUMBO_TAG_KBD:
    case GUMBO_TAG_MARK:
    case GUMBO_TAG_NOBR:
    case GUMBO_TAG_Q:
    case GUMBO_TAG_RB:
    case GUMBO_TAG_RUBY:
    case GUMBO_TAG_S:
    case GUMBO_TAG_SAMP:
    case GUMBO_TAG_SMALL:
    case GUMBO_TAG_SPAN:
    case GUMBO_TAG_STRIKE:
    case GUMBO_TAG_STRONG:
    case GUMBO_TAG_SUB:
    case GUMBO_TAG_SUP:
    case GUMBO_TAG_TIME:
    case GUMBO_TAG_TT:
    case GUMBO_TAG_U:
    case GUMBO_TAG_VAR:
    case GUMBO_TAG_WBR:
      return true;
    default:
      return false;
  }
}

// True if the style sheet in the attribute makes the element a block.
bool IsStyledBlock(const GumboNode& node) {
  const std::string_view style = HtmlAttribute(node, "style");
  const size_t display = style.find("display:");
  if (display == std::string_view::npos) return false;
  std::string_view value = style.substr(display + 8);
  while (value.starts_with(' ')) value.remove_prefix(1);
  for (const std::string_view block : {"block", "table", "flex", "grid", "list-item"}) {
    if (value.starts_with(block)) return true;
  }
  return false;
}

// The element before this one with nothing in between, if it is of the same tag.
const GumboNode* EqualNeighbour(const GumboNode& node) {
  if (node.parent == nullptr || node.index_within_parent == 0) return nullptr;
  if (node.index_within_parent >= HtmlChildCount(*node.parent)) return nullptr;
  const GumboNode& before =
      HtmlChild(*node.parent, static_cast<unsigned>(node.index_within_parent) - 1);
  const bool is_equal =
      before.type == GUMBO_NODE_ELEMENT && before.v.element.tag == node.v.element.tag;
  return is_equal ? &before : nullptr;
}

// Two links in a row are two things, and so are two plain <span>: only a style sheet can have a use
// for them, which shows them apart. Parts of highlighted code have classes.
bool IsApart(const GumboNode& node) {
  const GumboTag tag = node.v.element.tag;
  if (tag != GUMBO_TAG_A && tag != GUMBO_TAG_SPAN) return false;
  const GumboNode* const before = EqualNeighbour(node);
  if (before == nullptr) return false;
  if (tag == GUMBO_TAG_A)
    return HasHtmlAttribute(node, "href") && HasHtmlAttribute(*before, "href");
  return node.v.element.attributes.length == 0 && before->v.element.attributes.length == 0;
}

// A number set high is an exponent or a footnote, "th" a part of its word.
bool IsHighNumber(const GumboNode& node) {
  if (node.v.element.tag != GUMBO_TAG_SUP) return false;
  const GumboNode* inner = &node;
  while (HtmlChildCount(*inner) > 0) inner = &HtmlChild(*inner, 0);
  if (inner->type != GUMBO_NODE_TEXT) return false;
  const char first = inner->v.text.text[0];
  return first >= '0' && first <= '9';
}

}  // namespace

bool IsHtmlHeading(GumboTag tag) { return tag >= GUMBO_TAG_H1 && tag <= GUMBO_TAG_H6; }

HtmlSeparation HtmlSeparationOf(const GumboNode& node) {
  const GumboTag tag = node.v.element.tag;
  if (tag == GUMBO_TAG_BR) return HtmlSeparation::kLine;
  if (tag == GUMBO_TAG_TD || tag == GUMBO_TAG_TH) return HtmlSeparation::kSpace;
  if (IsBlockTag(tag) || IsStyledBlock(node)) return HtmlSeparation::kBlock;
  const bool is_part = IsPhrasingTag(tag) && !IsApart(node) && !IsHighNumber(node);
  return is_part ? HtmlSeparation::kNone : HtmlSeparation::kWord;
}

std::optional<ElementKind> StructureKindOf(const GumboNode& node) {
  const GumboTag tag = node.v.element.tag;
  if (IsHtmlHeading(tag)) return static_cast<ElementKind>(tag - GUMBO_TAG_H1);
  switch (tag) {
    case GUMBO_TAG_P:
    case GUMBO_TAG_SUMMARY:
    case GUMBO_TAG_FIGCAPTION:
      return ElementKind::kParagraph;
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_LISTING:
      return ElementKind::kCodeBlock;
    case GUMBO_TAG_BLOCKQUOTE:
      return ElementKind::kQuote;
    case GUMBO_TAG_UL:
    case GUMBO_TAG_MENU:
    case GUMBO_TAG_DIR:
      return ElementKind::kBulletList;
    case GUMBO_TAG_OL:
      return ElementKind::kNumberedList;
    case GUMBO_TAG_LI:
      return ElementKind::kItem;
    case GUMBO_TAG_DL:
      return ElementKind::kDefinitions;
    case GUMBO_TAG_DT:
      return ElementKind::kTerm;
    case GUMBO_TAG_DD:
      return ElementKind::kDefinition;
    case GUMBO_TAG_TABLE:
      return ElementKind::kTable;
    case GUMBO_TAG_CAPTION:
      return ElementKind::kCaption;
    case GUMBO_TAG_TR:
      return ElementKind::kRow;
    case GUMBO_TAG_TH:
      return ElementKind::kHeaderCell;
    case GUMBO_TAG_TD:
      return ElementKind::kCell;
    case GUMBO_TAG_CODE:
    case GUMBO_TAG_KBD:
    case GUMBO_TAG_SAMP:
    case GUMBO_TAG_TT:
      return ElementKind::kCode;
    case GUMBO_TAG_B:
    case GUMBO_TAG_STRONG:
      return ElementKind::kStrong;
    case GUMBO_TAG_CITE:
    case GUMBO_TAG_DFN:
    case GUMBO_TAG_EM:
    case GUMBO_TAG_I:
    case GUMBO_TAG_VAR:
      return ElementKind::kEmphasis;
    case GUMBO_TAG_SUP:
      return ElementKind::kSuperscript;
    case GUMBO_TAG_SUB:
      return ElementKind::kSubscript;
    case GUMBO_TAG_A:
      if (HasHtmlAttribute(node, "href")) return ElementKind::kLink;
      return std::nullopt;
    case GUMBO_TAG_SPAN:
      // Code in a line, as MediaWiki highlights it.
      if (HtmlAttribute(node, "class").starts_with("mw-geshi")) return ElementKind::kCode;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::string ColumnSpanOf(const GumboNode& node, ElementKind kind) {
  if (kind != ElementKind::kCell && kind != ElementKind::kHeaderCell) return {};
  const std::string_view text = HtmlAttribute(node, "colspan");
  uint32_t columns = 0;
  std::from_chars(text.data(), text.data() + text.size(), columns);
  if (columns < 2 || columns > StructureLimits::kColumnSpanMax) return {};
  return neptune::StrCat(columns);
}

}  // namespace search::html
