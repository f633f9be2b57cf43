#include "index/html/document_structure.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "neptune/base/strings.h"

namespace search::html {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using Limits = StructureLimits;

// Letter of each kind, in the order of the enumeration.
constexpr std::string_view kLetters = "ABCDEFpcquoldteTKRhxmbisva";
static_assert(kLetters.size() == kElementKindCount);

constexpr char kClose = '/';
constexpr char kValue = '=';
constexpr char kValueEnd = ' ';
constexpr size_t kDigitsMax = 8;

char LetterOf(ElementKind kind) { return kLetters[static_cast<size_t>(kind)]; }

std::optional<ElementKind> KindOf(char letter) {
  const size_t index = kLetters.find(letter);
  if (index == std::string_view::npos) return std::nullopt;
  return static_cast<ElementKind>(index);
}

bool IsCell(ElementKind kind) {
  return kind == ElementKind::kHeaderCell || kind == ElementKind::kCell;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<uint32_t> NumberOf(std::string_view text) {
  uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

bool IsValueOf(ElementKind kind, std::string_view value) {
  if (kind == ElementKind::kLink) return IsStructureTarget(value);
  if (!IsCell(kind)) return value.empty();
  if (value.empty()) return true;
  const auto columns = NumberOf(value);
  return columns && *columns >= 2 && *columns <= Limits::kColumnSpanMax && value[0] != '0';
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool IsInsideCharacter(std::string_view text, size_t position) {
  return position < text.size() && (static_cast<uint8_t>(text[position]) & 0xC0) == 0x80;
}

// Reads an encoded structure from its beginning to its end.
class Parser {
 public:
  Parser(std::string_view encoded, std::string_view text) : encoded_(encoded), text_(text) {}

  StatusOr<DocumentStructure> Run() {
    if (encoded_.size() > Limits::kSizeMax) return Bad("more bytes than the limit");
    if (text_.size() > UINT32_MAX) return Bad("its text is too long");
    while (at_ < encoded_.size()) {
      NEPTUNE_RETURN_IF_ERROR(Advance());
      NEPTUNE_RETURN_IF_ERROR(Step());
    }
    if (!open_.empty()) return Bad("an element is not closed");
    return std::move(events_);
  }

 private:
  Status Bad(std::string_view reason) const {
    return InvalidArgument("structure, byte ", at_, ": ", reason);
  }

  // Skips a number and the text that it counts.
  Status Advance() {
    size_t end = at_;
    while (end < encoded_.size() && IsDigit(encoded_[end])) ++end;
    if (end == at_) return neptune::OkStatus();
    const auto size = end - at_ <= kDigitsMax ? NumberOf(encoded_.substr(at_, end - at_))
                                              : std::optional<uint32_t>();
    if (!size || *size > text_.size() - position_) return Bad("a position outside of the text");
    const std::string_view passed = text_.substr(position_, *size);
    if (!open_.empty() && HoldsElementsOnly(open_.back()) && !IsBlank(passed)) {
      return Bad("text directly in a list, a table or a row");
    }
    position_ += *size;
    if (IsInsideCharacter(text_, position_)) return Bad("a position inside a character");
    at_ = end;
    if (at_ == encoded_.size()) return Bad("a number without an element");
    return neptune::OkStatus();
  }

  Status Step() {
    if (encoded_[at_] == kClose) {
      if (open_.empty()) return Bad("nothing is open");
      events_.push_back({static_cast<uint32_t>(position_), open_.back(), false, {}});
      link_depth_ -= open_.back() == ElementKind::kLink ? 1 : 0;
      open_.pop_back();
      ++at_;
      return neptune::OkStatus();
    }
    const auto kind = KindOf(encoded_[at_]);
    if (!kind) return Bad("not a known element");
    NEPTUNE_RETURN_IF_ERROR(CheckPlace(*kind));
    ++at_;
    std::string_view value;
    if (at_ < encoded_.size() && encoded_[at_] == kValue) {
      const size_t end = encoded_.find(kValueEnd, at_);
      if (end == std::string_view::npos) return Bad("a value without its end");
      value = encoded_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
    }
    if (!IsValueOf(*kind, value)) return Bad("a value that the element cannot have");
    events_.push_back({static_cast<uint32_t>(position_), *kind, true, std::string(value)});
    open_.push_back(*kind);
    link_depth_ += *kind == ElementKind::kLink ? 1 : 0;
    return neptune::OkStatus();
  }

  Status CheckPlace(ElementKind kind) {
    const auto parent = open_.empty() ? std::optional<ElementKind>() : open_.back();
    if (!MayContain(parent, kind)) return Bad("an element in a place where it must not be");
    if (kind == ElementKind::kLink && link_depth_ > 0) return Bad("a link inside a link");
    if (open_.size() == Limits::kDepthMax) return Bad("elements nested too deeply");
    if (++element_count_ > Limits::kElementsMax) return Bad("too many elements");
    return neptune::OkStatus();
  }

  const std::string_view encoded_;
  const std::string_view text_;
  size_t at_ = 0;
  size_t position_ = 0;
  size_t element_count_ = 0;
  int link_depth_ = 0;
  std::vector<ElementKind> open_;
  DocumentStructure events_;
};

void AppendEvent(const StructureEvent& event, uint32_t position, std::string* out) {
  if (event.position > position) neptune::StrAppend(out, event.position - position);
  *out += event.opens ? LetterOf(event.kind) : kClose;
  if (event.opens && !event.value.empty()) {
    *out += kValue;
    *out += event.value;
    *out += kValueEnd;
  }
}

}  // namespace

bool HoldsElementsOnly(ElementKind kind) {
  switch (kind) {
    case ElementKind::kBulletList:
    case ElementKind::kNumberedList:
    case ElementKind::kDefinitions:
    case ElementKind::kTable:
    case ElementKind::kRow:
      return true;
    default:
      return false;
  }
}

bool IsInlineKind(ElementKind kind) { return kind >= ElementKind::kCode; }

bool HoldsBlocks(std::optional<ElementKind> kind) {
  if (!kind) return true;
  return *kind == ElementKind::kQuote || *kind == ElementKind::kItem ||
         *kind == ElementKind::kDefinition || IsCell(*kind);
}

bool MayContain(std::optional<ElementKind> parent, ElementKind child) {
  switch (child) {
    case ElementKind::kItem:
      return parent == ElementKind::kBulletList || parent == ElementKind::kNumberedList;
    case ElementKind::kTerm:
    case ElementKind::kDefinition:
      return parent == ElementKind::kDefinitions;
    case ElementKind::kCaption:
    case ElementKind::kRow:
      return parent == ElementKind::kTable;
    case ElementKind::kHeaderCell:
    case ElementKind::kCell:
      return parent == ElementKind::kRow;
    default:
      break;
  }
  if (IsInlineKind(child)) return !parent || !HoldsElementsOnly(*parent);
  return HoldsBlocks(parent);
}

ElementKind ImpliedChild(ElementKind kind) {
  switch (kind) {
    case ElementKind::kDefinitions:
      return ElementKind::kDefinition;
    case ElementKind::kTable:
      return ElementKind::kRow;
    case ElementKind::kRow:
      return ElementKind::kCell;
    default:
      return ElementKind::kItem;
  }
}

std::string EncodeStructure(const DocumentStructure& structure) {
  std::string out;
  uint32_t position = 0;
  size_t element_count = 0;
  std::vector<ElementKind> open;
  const auto append = [&](const StructureEvent& event) {
    AppendEvent(event, position, &out);
    position = std::max(position, event.position);
  };
  for (const StructureEvent& event : structure) {
    if (event.opens) {
      // What closes the open elements must still fit.
      const size_t size = event.value.size() + (open.size() + 2) * (kDigitsMax + 3);
      const bool fits = ++element_count <= Limits::kElementsMax &&
                        open.size() < Limits::kDepthMax && out.size() + size <= Limits::kSizeMax;
      if (!fits) {
        // The rest of the text has no structure.
        for (; !open.empty(); open.pop_back()) append({event.position, open.back(), false, {}});
        return out;
      }
      open.push_back(event.kind);
    } else {
      open.pop_back();
    }
    append(event);
  }
  return out;
}

StatusOr<DocumentStructure> ParseStructure(std::string_view encoded, std::string_view text) {
  return Parser(encoded, text).Run();
}

void ResolveTargets(const TargetResolver& resolve, DocumentStructure* structure) {
  size_t kept = 0;
  std::vector<bool> is_kept;
  for (size_t i = 0; i < structure->size(); ++i) {
    StructureEvent event = std::move((*structure)[i]);
    if (event.opens) {
      bool keeps = true;
      if (event.kind == ElementKind::kLink) {
        auto target = resolve(event.value);
        keeps = target.has_value() && IsStructureTarget(*target);
        if (keeps) event.value = *std::move(target);
      }
      is_kept.push_back(keeps);
      if (!keeps) continue;
    } else {
      const bool keeps = is_kept.back();
      is_kept.pop_back();
      if (!keeps) continue;
    }
    (*structure)[kept++] = std::move(event);
  }
  structure->resize(kept);
}

bool IsDocumentTarget(std::string_view target) {
  return !target.empty() && target.size() <= 20 &&
         std::all_of(target.begin(), target.end(), IsDigit);
}

bool IsWebTarget(std::string_view target) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (target.starts_with(scheme)) {
      return target.size() > scheme.size() && target[scheme.size()] != '/';
    }
  }
  return false;
}

bool IsStructureTarget(std::string_view target) {
  if (target.size() > Limits::kTargetSizeMax) return false;
  const bool is_plain = std::all_of(target.begin(), target.end(), [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte > 0x20 && byte != 0x7F && c != '\\';
  });
  if (!is_plain) return false;
  return IsDocumentTarget(target) || IsWebTarget(target) ||
         (target.starts_with("doc:") && target.size() > 4);
}

}  // namespace search::html
