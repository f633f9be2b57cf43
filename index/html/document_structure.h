// The structure of a document: which ranges of its plain text are headings, lists, tables, code,
// links and so on. structure.md in this folder is the format.
//
// The text is stored once, as plain text; the structure holds no text of its own. Renderers write
// the text escaped, so nothing in a structure can become markup that is not in the list below.
//
// Threads: plain values, pure functions.
// Units: positions are bytes of the text.
// Errors: INVALID_ARGUMENT with the place and the reason: not the grammar, an element where it must
//   not be, positions outside of the text or inside a character, a limit below.
// Limits: StructureLimits.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace search::html {

struct StructureLimits {
  static constexpr size_t kSizeMax = size_t{1} << 20;
  static constexpr size_t kElementsMax = 50'000;
  static constexpr size_t kDepthMax = 32;
  static constexpr size_t kTargetSizeMax = 2048;
  static constexpr uint32_t kColumnSpanMax = 99;
};

enum class ElementKind : uint8_t {
  kHeading1,
  kHeading2,
  kHeading3,
  kHeading4,
  kHeading5,
  kHeading6,
  kParagraph,
  kCodeBlock,
  kQuote,
  kBulletList,
  kNumberedList,
  kItem,
  kDefinitions,
  kTerm,
  kDefinition,
  kTable,
  kCaption,
  kRow,
  kHeaderCell,  // value: number of columns, if it is not one
  kCell,        // the same
  kCode,
  kStrong,
  kEmphasis,
  kSuperscript,
  kSubscript,
  kLink,  // value: what the link leads to
};
inline constexpr size_t kElementKindCount = 26;

// True for kinds that hold only certain elements, and no text: lists, tables and rows.
bool HoldsElementsOnly(ElementKind kind);
// True for elements inside a line of text.
bool IsInlineKind(ElementKind kind);
// True for kinds, and for the document itself (nullopt), that hold paragraphs, lists and so on.
bool HoldsBlocks(std::optional<ElementKind> kind);
// Whether `child` may be directly inside `parent`; nullopt is the document. A link inside a link,
// however deep, is not allowed either.
bool MayContain(std::optional<ElementKind> parent, ElementKind child);
// The kind of the element that holds text inside an element that holds none: an item of a list, a
// row of a table. REQUIRES: HoldsElementsOnly(kind).
ElementKind ImpliedChild(ElementKind kind);

struct StructureEvent {
  uint32_t position = 0;
  ElementKind kind = ElementKind::kParagraph;
  bool opens = false;      // else it closes the innermost open element, which is of this kind
  std::string value = {};  // of an opened element that has one

  friend bool operator==(const StructureEvent&, const StructureEvent&) = default;
};
// In order of the text; every opened element is closed.
using DocumentStructure = std::vector<StructureEvent>;

// The stored form. REQUIRES: a well-formed structure. Elements beyond the limits are left out.
std::string EncodeStructure(const DocumentStructure& structure);

// Checks the whole structure against the grammar, the rules of nesting and the text.
neptune::StatusOr<DocumentStructure> ParseStructure(std::string_view encoded,
                                                    std::string_view text);

// Replaces the target of each link by what `resolve` returns for it; nullopt removes the link and
// keeps what is in it.
using TargetResolver = std::function<std::optional<std::string>(const std::string& target)>;
void ResolveTargets(const TargetResolver& resolve, DocumentStructure* structure);

// True for targets that a structure may hold: a number of a document, an http or https address, or
// "doc:" and a path. No spaces or control characters.
bool IsStructureTarget(std::string_view target);
// True if the target is a document's number in decimal.
bool IsDocumentTarget(std::string_view target);
// True if the target is an http or https address.
bool IsWebTarget(std::string_view target);

}  // namespace search::html
