#include "index/html/structured_text.h"

#include <algorithm>
#include <utility>

#include "neptune/base/utf8.h"

namespace search::html {
namespace {

constexpr int kSpacesMax = 40;
// Line breaks in a row that code keeps.
constexpr int kNewlinesMax = 4;

bool IsWordByte(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z') || byte == '_' || byte >= 0x80;
}

bool IsCellKind(ElementKind kind) {
  return kind == ElementKind::kCell || kind == ElementKind::kHeaderCell;
}

}  // namespace

void StructuredText::Append(std::string_view text, bool preserve) {
  for (size_t i = 0; i < text.size() && !is_full_; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const bool no_break_space = text.substr(i, 2) == "\xC2\xA0";
    if (no_break_space) ++i;
    if (preserve && byte == '\n') {
      newline_count_ = std::min(newline_count_ + 1, kNewlinesMax);
      space_count_ = 0;
    } else if (byte <= 0x20 || byte == 0x7F || no_break_space) {
      AddSpace(preserve);
    } else {
      Put(text[i]);
    }
  }
}

void StructuredText::AddSpace(bool every) {
  if (newline_count_ > 0 && !every) return;
  space_count_ = every ? std::min(space_count_ + 1, kSpacesMax) : 1;
}

void StructuredText::Space() { AddSpace(false); }

void StructuredText::Break(bool ends_block) {
  newline_count_ = std::max(newline_count_, 1);
  space_count_ = 0;
  if (!ends_block) return;
  block_ended_ = true;
  CloseImplied();
}

void StructuredText::Put(char c) {
  if (text_.size() >= size_max_ + 4) {
    is_full_ = true;
    return;
  }
  ImplyParents();
  const bool is_joined = newline_count_ == 0 && space_count_ == 0;
  if (ends_word_ && is_joined && !text_.empty() && IsWordByte(text_.back()) && IsWordByte(c)) {
    space_count_ = 1;
  }
  if (!text_.empty()) {
    text_.append(static_cast<size_t>(newline_count_), '\n');
    text_.append(static_cast<size_t>(space_count_), ' ');
  }
  newline_count_ = 0;
  space_count_ = 0;
  ends_word_ = false;
  block_ended_ = false;
  WriteOpen();
  if (!open_.empty()) open_.back().has_content = true;
  text_ += c;
}

std::optional<ElementKind> StructuredText::innermost() const {
  return open_.empty() ? std::optional<ElementKind>() : open_.back().kind;
}

// Opens what text or an inline element needs around it here.
void StructuredText::ImplyParents() {
  while (!open_.empty() && HoldsElementsOnly(open_.back().kind) &&
         open_.size() < StructureLimits::kDepthMax) {
    Push(nullptr, ImpliedChild(open_.back().kind), {});
  }
  if (!HoldsBlocks(innermost())) return;
  // The first text of an item or a cell needs no paragraph, nor does what continues its line.
  const bool is_item = !open_.empty() && open_.back().kind != ElementKind::kQuote;
  if (is_item && (!open_.back().has_content || !block_ended_)) return;
  Push(nullptr, ElementKind::kParagraph, {});
}

void StructuredText::CloseImplied() {
  while (!open_.empty() && open_.back().owner == nullptr) Pop();
}

void StructuredText::Push(const void* owner, ElementKind kind, std::string value) {
  if (open_.size() == StructureLimits::kDepthMax) return;
  link_depth_ += kind == ElementKind::kLink ? 1 : 0;
  open_.push_back({owner, kind, std::move(value)});
}

void StructuredText::Open(const void* owner, ElementKind kind, std::string value) {
  if (IsInlineKind(kind)) {
    if (kind == ElementKind::kLink && link_depth_ > 0) return;
    ImplyParents();
  } else {
    CloseImplied();
  }
  if (!MayContain(innermost(), kind)) return;
  // Room for what text inside of it needs: a row, a cell, a paragraph.
  const size_t room = HoldsElementsOnly(kind) && kind != ElementKind::kRow ? 4 : 1;
  if (open_.size() + room > StructureLimits::kDepthMax) return;
  Push(owner, kind, std::move(value));
}

void StructuredText::Close(const void* owner) {
  const bool is_open = std::any_of(open_.begin(), open_.end(),
                                   [&](const auto& element) { return element.owner == owner; });
  if (!is_open) return;
  while (open_.back().owner != owner) Pop();
  Pop();
}

void StructuredText::Pop() {
  OpenElement& last = open_.back();
  // An empty cell keeps its column; other empty elements leave no trace.
  if (!last.is_written && IsCellKind(last.kind)) WriteOpen();
  if (last.is_written) {
    events_.push_back({static_cast<uint32_t>(text_.size()), last.kind, false, {}});
  }
  link_depth_ -= last.kind == ElementKind::kLink ? 1 : 0;
  open_.pop_back();
}

void StructuredText::WriteOpen() {
  for (size_t i = 0; i < open_.size(); ++i) {
    OpenElement& element = open_[i];
    if (element.is_written) continue;
    if (i > 0) open_[i - 1].has_content = true;
    events_.push_back(
        {static_cast<uint32_t>(text_.size()), element.kind, true, std::move(element.value)});
    element.is_written = true;
  }
}

std::string StructuredText::TakeText() {
  while (!open_.empty()) Pop();
  text_.resize(neptune::TruncateUtf8(text_, size_max_).size());
  for (StructureEvent& event : events_) {
    event.position = std::min(event.position, static_cast<uint32_t>(text_.size()));
  }
  return std::move(text_);
}

DocumentStructure StructuredText::TakeStructure() { return std::move(events_); }

}  // namespace search::html
