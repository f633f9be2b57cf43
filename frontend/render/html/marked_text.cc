#include "frontend/render/html/marked_text.h"

#include <algorithm>

#include "neptune/base/strings.h"

namespace search::frontend::html {

using neptune::StrCat;

std::string MarkId(size_t number) { return StrCat("m", number); }

void MarkedText::Write(size_t begin, size_t end) {
  while (next_ < matches_.size()) {
    const TextRange& match = matches_[next_];
    const size_t match_end = size_t{match.begin} + match.size;
    if (match_end <= begin) {  // not shown
      ++next_;
      continue;
    }
    if (match.begin >= end) break;
    const size_t from = std::max<size_t>(begin, match.begin);
    html_.Text(text_.substr(begin, from - begin));
    begin = std::min(end, match_end);
    WriteMark(from, begin);
    // The rest of the word is in another element.
    if (match_end > end) return;
    ++next_;
    if (!is_in_link_) WriteSteps();
  }
  html_.Text(text_.substr(begin, end - begin));
}

void MarkedText::WriteMark(size_t begin, size_t end) {
  const std::string_view word = text_.substr(begin, end - begin);
  if (begin != matches_[next_].begin || named_ == kMatchLinksMax) {
    html_.TextElement("mark", word);
    return;
  }
  ++named_;
  if (first_step_ == 0) first_step_ = named_;
  html_.TextElement("mark", word, {{"id", MarkId(named_)}});
}

// Links from the marks since the last ones to the mark before and after them.
void MarkedText::WriteSteps() {
  if (first_step_ == 0) return;
  const bool has_previous = first_step_ > 1;
  const bool has_next = next_ < matches_.size() && named_ < kMatchLinksMax;
  if (has_previous || has_next) {
    const Element steps(html_, "span", {{"class", "steps"}});
    if (has_previous) {
      html_.TextElement(
          "a", "‹", {{"href", "#" + MarkId(first_step_ - 1)}, {"aria-label", "Previous match"}});
    }
    if (has_next) {
      html_.TextElement("a", "›",
                        {{"href", "#" + MarkId(named_ + 1)}, {"aria-label", "Next match"}});
    }
  }
  first_step_ = 0;
}

void MarkedText::EndLink() {
  is_in_link_ = false;
  WriteSteps();
}

void MarkedText::WriteLines(size_t begin, size_t end) {
  while (begin < end) {
    const size_t line_end = std::min(text_.find('\n', begin), end);
    Write(begin, line_end);
    if (line_end < end) html_.Empty("br");
    begin = line_end + 1;
  }
}

void MarkedText::WriteParagraphs(size_t begin, size_t end) {
  while (begin < end) {
    const size_t line_end = std::min(text_.find('\n', begin), end);
    const std::string_view line = text_.substr(begin, line_end - begin);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      const Element paragraph(html_, "p", {{"dir", "auto"}});
      Write(begin, line_end);
    }
    begin = line_end + 1;
  }
}

}  // namespace search::frontend::html
