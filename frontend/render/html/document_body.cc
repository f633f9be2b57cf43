#include "frontend/render/html/document_body.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "frontend/render/html/marked_text.h"
#include "frontend/render/wording/address.h"
#include "index/html/document_structure.h"
#include "neptune/base/strings.h"

namespace search::frontend::html {
namespace {

using search::html::DocumentStructure;
using search::html::ElementKind;
using search::html::StructureEvent;

constexpr int kLevelMax = 6;

bool IsHeading(ElementKind kind) { return kind <= ElementKind::kHeading6; }

TagName HeadingTag(int level) {
  switch (level) {
    case 2:
      return "h2";
    case 3:
      return "h3";
    case 4:
      return "h4";
    case 5:
      return "h5";
    default:
      return "h6";
  }
}

// The element of kinds that are exactly one element without attributes.
TagName PlainTag(ElementKind kind) {
  switch (kind) {
    case ElementKind::kQuote:
      return "blockquote";
    case ElementKind::kBulletList:
      return "ul";
    case ElementKind::kNumberedList:
      return "ol";
    case ElementKind::kDefinitions:
      return "dl";
    case ElementKind::kCaption:
      return "caption";
    case ElementKind::kRow:
      return "tr";
    case ElementKind::kCode:
      return "code";
    case ElementKind::kStrong:
      return "strong";
    case ElementKind::kEmphasis:
      return "em";
    case ElementKind::kSuperscript:
      return "sup";
    case ElementKind::kSubscript:
      return "sub";
    default:
      return "span";
  }
}

// The beginning of a document that repeats the title of the page.
struct SkippedHeading {
  size_t event_count = 0;
  size_t text_size = 0;
};

SkippedHeading SkippedHeadingOf(const DocumentStructure& structure,
                                const CachedDocument& document) {
  if (structure.empty() || !IsHeading(structure[0].kind) || structure[0].position > 0) return {};
  size_t depth = 0;
  for (size_t i = 0; i < structure.size(); ++i) {
    depth = structure[i].opens ? depth + 1 : depth - 1;
    if (depth > 0) continue;
    const size_t end = structure[i].position;
    const bool repeats = std::string_view(document.text).substr(0, end) == document.title;
    return repeats ? SkippedHeading{.event_count = i + 1, .text_size = end} : SkippedHeading();
  }
  return {};
}

// True if an element of that kind is `depth` levels inside the element that event `i` opens.
bool HasInside(const DocumentStructure& structure, size_t i, ElementKind kind, size_t depth) {
  size_t level = 0;
  for (++i; i < structure.size(); ++i) {
    if (!structure[i].opens) {
      if (level == 0) return false;
      --level;
    } else if (++level == depth && structure[i].kind == kind) {
      return true;
    }
  }
  return false;
}

// Writes the text between the events of a structure, and the elements at them.
class BodyWriter {
 public:
  BodyWriter(MarkupWriter& html, const CachedDocument& document, std::string_view shown,
             const DocumentStructure& structure, std::vector<TextRange> matches)
      : html_(html),
        document_(document),
        text_(shown),
        structure_(structure),
        marks_(html, shown, std::move(matches)) {}

  // Skips `skipped.event_count` events and the text before them.
  void Write(const SkippedHeading& skipped) {
    at_ = skipped.text_size;
    for (size_t i = skipped.event_count; i < structure_.size(); ++i) {
      const StructureEvent& event = structure_[i];
      if (event.position > text_.size()) break;
      WriteText(event.position, search::html::IsInlineKind(event.kind));
      if (event.opens) {
        Open(i);
      } else {
        Close();
      }
    }
    WriteText(text_.size(), false);
    while (!open_.empty()) Close();
  }

 private:
  struct OpenElement {
    ElementKind kind;
    int written = 0;        // elements of HTML that it consists of
    bool has_body = false;  // of a table: rows have begun
  };

  // `is_inline`: what follows is inside a line of text.
  void WriteText(size_t end, bool is_inline) {
    const bool was_inline = std::exchange(was_inline_, is_inline);
    if (end <= at_) return;
    size_t begin = std::exchange(at_, end);
    const auto kind = open_.empty() ? std::optional<ElementKind>() : open_.back().kind;
    if (IsInsideCode()) return marks_.Write(begin, end);
    if (kind && search::html::HoldsElementsOnly(*kind)) return;  // white space
    if (!search::html::HoldsBlocks(kind)) return marks_.WriteLines(begin, end);
    if (!kind && !was_inline && !is_inline) return marks_.WriteParagraphs(begin, end);
    // Line breaks beside blocks belong to no line.
    while (!was_inline && begin < end && text_[begin] == '\n') ++begin;
    while (!is_inline && begin < end && text_[end - 1] == '\n') --end;
    marks_.WriteLines(begin, end);
  }

  bool IsInsideCode() const {
    return std::any_of(open_.begin(), open_.end(), [](const OpenElement& element) {
      return element.kind == ElementKind::kCodeBlock;
    });
  }

  // The text of the element that event `i` opens here, as far as it is shown.
  std::string_view TextInside(size_t i) const {
    size_t depth = 0;
    do {
      depth = structure_[i].opens ? depth + 1 : depth - 1;
    } while (depth > 0 && ++i < structure_.size());
    return text_.substr(at_, std::min<size_t>(structure_[i].position, text_.size()) - at_);
  }

  // REQUIRES: the text before event `i` is written.
  void Open(size_t i) {
    const StructureEvent& event = structure_[i];
    OpenElement& element = open_.emplace_back(OpenElement{.kind = event.kind, .written = 1});
    if (IsHeading(event.kind)) return OpenHeading(event.kind);
    switch (event.kind) {
      case ElementKind::kParagraph:
        return html_.Open("p", {{"dir", "auto"}});
      case ElementKind::kItem:
        return html_.Open("li", {{"dir", "auto"}});
      case ElementKind::kTerm:
        return html_.Open("dt", {{"dir", "auto"}});
      case ElementKind::kDefinition:
        return html_.Open("dd", {{"dir", "auto"}});
      case ElementKind::kCodeBlock:
        return html_.Open("pre", {{"dir", "ltr"}});
      case ElementKind::kTable:
        element.written = 2;
        return OpenTable(i);
      case ElementKind::kCaption:
        CloseTableBody();
        return html_.Open("caption");
      case ElementKind::kRow:
        OpenTableBody();
        row_has_cells_ = HasInside(structure_, i, ElementKind::kCell, 1);
        return html_.Open("tr");
      case ElementKind::kHeaderCell:
        return OpenHeaderCell(event.value);
      case ElementKind::kCell:
        if (event.value.empty()) return html_.Open("td");
        return html_.Open("td", {{"colspan", event.value}});
      case ElementKind::kLink:
        element.written = OpenLink(event.value, TextInside(i)) ? 1 : 0;
        return;
      default:
        return html_.Open(PlainTag(event.kind));
    }
  }

  // The page's title is the heading of level 1; levels are never skipped.
  void OpenHeading(ElementKind kind) {
    const int wanted = static_cast<int>(kind) + 2;
    level_ = std::min({wanted, level_ + 1, kLevelMax});
    html_.Open(HeadingTag(level_), {{"dir", "auto"}});
  }

  // Tables without headers are for layout.
  void OpenTable(size_t i) {
    html_.Open("div", {{"class", "table-scroll"}});
    if (!HasInside(structure_, i, ElementKind::kHeaderCell, 2)) {
      html_.Open("table", {{"role", "presentation"}});
    } else if (!HasInside(structure_, i, ElementKind::kCaption, 1)) {
      html_.Open("table", {{"aria-label", "Table"}});
    } else {
      html_.Open("table");
    }
  }

  // A row of nothing but headers heads columns.
  void OpenHeaderCell(const std::string& columns) {
    const char* const scope = row_has_cells_ ? "row" : "col";
    if (columns.empty()) return html_.Open("th", {{"scope", scope}});
    html_.Open("th", {{"scope", scope}, {"colspan", columns}});
  }

  // The table is the element around the one that was just opened.
  void OpenTableBody() {
    OpenElement& table = open_[open_.size() - 2];
    if (table.has_body) return;
    html_.Open("tbody");
    table.has_body = true;
  }
  void CloseTableBody() {
    OpenElement& table = open_[open_.size() - 2];
    if (table.has_body) html_.Close();
    table.has_body = false;
  }

  // A link without words has no element.
  bool OpenLink(const std::string& target, std::string_view words) {
    if (words.find_first_not_of(" \t\r\n") == std::string_view::npos) return false;
    if (search::html::IsDocumentTarget(target)) {
      html_.Open("a", {{"href", CachedCopyPath(target, document_.query, document_.is_plain)}});
    } else if (IsWebAddress(target)) {
      html_.Open("a", {{"href", target}, {"rel", "noopener nofollow"}, {"class", "outside"}});
    } else {
      return false;
    }
    marks_.BeginLink();
    return true;
  }

  void Close() {
    const OpenElement element = open_.back();
    open_.pop_back();
    if (element.has_body) html_.Close();
    for (int i = 0; i < element.written; ++i) html_.Close();
    if (element.kind == ElementKind::kLink && element.written > 0) marks_.EndLink();
  }

  MarkupWriter& html_;
  const CachedDocument& document_;
  const std::string_view text_;
  const DocumentStructure& structure_;
  MarkedText marks_;
  size_t at_ = 0;
  bool was_inline_ = false;  // the last element that began or ended is inside a line of text
  int level_ = 1;
  bool row_has_cells_ = false;  // the row that began last has cells besides headers
  std::vector<OpenElement> open_;
};

// The matches in [begin, end) of the text.
std::vector<TextRange> MatchesBetween(const std::vector<TextRange>& matches, size_t begin,
                                      size_t end) {
  std::vector<TextRange> inside;
  size_t at = begin;
  for (const TextRange& match : matches) {
    const size_t match_end = size_t{match.begin} + match.size;
    if (match.size == 0 || match.begin < at || match_end > end) continue;
    inside.push_back(match);
    at = match_end;
  }
  return inside;
}

}  // namespace

DocumentBody::DocumentBody(const CachedDocument& document, std::string_view shown)
    : document_(document), shown_(shown) {
  // The structure is that of the whole text, of which the end may not be shown.
  auto structure = search::html::ParseStructure(document.structure, document.text);
  if (structure.ok()) structure_ = *std::move(structure);
  const SkippedHeading skipped = SkippedHeadingOf(structure_, document);
  matches_ = MatchesBetween(document.matches, skipped.text_size, shown.size());
}

void DocumentBody::Write(MarkupWriter& html) const {
  if (structure_.empty()) {
    return MarkedText(html, shown_, matches_).WriteParagraphs(0, shown_.size());
  }
  BodyWriter(html, document_, shown_, structure_, matches_)
      .Write(SkippedHeadingOf(structure_, document_));
}

}  // namespace search::frontend::html
